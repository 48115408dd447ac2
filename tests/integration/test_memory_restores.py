"""All memory of a workspace brought back to a moment: over HTTP and on the console's pages, in the background, undone."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from datetime import datetime
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import pytest

from deploy.local import Endpoints
from services.core.web import make_app
from services.operations.erase.run import erase
from services.operations.memory import restores, restoring
from services.web.routes import routes
from tests.support.beginning import after
from tests.support.console import form, signed_in, text_of
from tests.support.erasing import differences, found
from tests.support.remembering import ADA, Memory, day, fact, remembering

pytestmark = pytest.mark.timeout(300)
TOKEN, READER = "a token for tests", "a token that may only read"
BO, CY = "bo@granite.example", "cy@basalt.example"
HOSTILE = "<img src=x onerror=alert(1)>"
TEAM, GROWTH = "We are on the Team plan now.", f"We are on the {HOSTILE} plan now."
THEN = "2026-01-08T00:00:00Z"
NOBODY = asyncio.Event()


async def changed(one: Memory) -> None:
    """Two of three change their plan."""
    for who in (ADA, BO, CY):
        await one.tell(TEAM, fact("plan", "Team", TEAM), on=1, sender=who)
    await one.tell(GROWTH, fact("plan", HOSTILE, GROWTH), on=5, sender=ADA)
    rex = fact("dog", "Rex", "Our dog is Rex.", kind="preference")
    await one.tell(f"{GROWTH}\nOur dog is Rex.", fact("plan", HOSTILE, GROWTH), rex, on=5, sender=BO)
    one.clock.forward(day(7))


@pytest.fixture
async def memory(stack: Endpoints, template_database: str, topic_prefix: str, tmp_path: Path) -> AsyncIterator[Memory]:
    """Ada and Bo change their plan on the 10th, and Bo gets a dog; Cy's plan stays. It is the 12th."""
    reader = {"name": "reader", "token": READER, "scopes": ["operations:read", "memory:write"]}
    web = {"api_token": TOKEN, "tokens": [reader]}
    async with after(changed, remembering, stack, template_database, topic_prefix, tmp_path, web=web) as one:
        yield one


def client_of(memory: Memory, token: str) -> httpx.AsyncClient:
    """A program with a token."""
    transport = httpx.ASGITransport(make_app([routes(memory.app)]), raise_app_exceptions=False)
    headers = {"authorization": f"Bearer {token}"}
    return httpx.AsyncClient(transport=transport, base_url="http://deployment", headers=headers)


@pytest.fixture
async def api(memory: Memory) -> AsyncIterator[httpx.AsyncClient]:
    """A program that may do everything."""
    async with client_of(memory, TOKEN) as client:
        yield client


@pytest.fixture
async def admin(memory: Memory) -> AsyncIterator[httpx.AsyncClient]:
    """An admin who is signed in."""
    async with signed_in(memory.app) as client:
        yield client


async def plans(memory: Memory) -> list[list[str]]:
    """The plans of Ada, Bo and Cy, and the dog of Bo."""
    return [*[await memory.current("plan", who) for who in (ADA, BO, CY)], await memory.current("dog", BO)]


BEFORE = [[HOSTILE], [HOSTILE], ["Team"], ["Rex"]]
AFTER = [["Team"], ["Team"], ["Team"], []]


async def requests(memory: Memory) -> int:
    """How many requests about facts are on the log."""
    return len(await memory.rows("SELECT 1 FROM events WHERE type = 'fact.requested.v1'"))


async def looked(memory: Memory) -> restores.WorkspaceRestore:
    """A restore to the 8th that was looked at."""
    begun = await restores.begin(memory.app, datetime.fromisoformat(THEN), by="grace")
    await restores.go_on(memory.app, NOBODY)
    return await restores.found(memory.app, begun.restore_id)


async def confirmed(memory: Memory) -> restores.WorkspaceRestore:
    """One that was confirmed, and of which nothing is done yet."""
    seen = await looked(memory)
    return await restores.confirm(memory.app, seen.restore_id, people=seen.changed, by="grace")


async def done(memory: Memory, one: restores.WorkspaceRestore) -> restores.WorkspaceRestore:
    """The same once the deployment has done it."""
    async with memory.at_work():
        await restores.go_on(memory.app, NOBODY)
    return await restores.found(memory.app, one.restore_id)


async def test_a_workspace_is_brought_back_over_the_api_and_the_moment_before_undoes_it(
    memory: Memory, api: httpx.AsyncClient, stack: Endpoints
) -> None:
    """Counted by person and kind without a change; done once confirmed by that number; undone by the moment it names."""
    begun = (await api.post("/api/restores", json={"at": THEN, "by": "grace"})).json()
    place = f"/api/restores/{begun['restore_id']}"
    assert (begun["state"], begun["people"]) == ("looking", 3)
    assert (await api.post(f"{place}/confirm", json={"people": 2})).status_code == 409
    await restores.go_on(memory.app, NOBODY)
    seen = (await api.get(place)).json()
    assert (seen["restore"]["state"], seen["restore"]["changed"]) == ("looked", 2)
    assert seen["restore"]["kinds"] == {"customer_info": [2, 2], "preference": [1, 0]}
    by_person = {one["participant_id"]: one["kinds"] for one in seen["people"]}
    bo = {"customer_info": [1, 1], "preference": [1, 0]}
    assert by_person == {str(memory.person(ADA)): {"customer_info": [1, 1]}, str(memory.person(BO)): bo}
    assert await plans(memory) == BEFORE
    wrong = await api.post(f"{place}/confirm", json={"people": 3})
    assert (wrong.status_code, wrong.json()["error"]) == (409, "not_as_seen")
    answer = await api.post(f"{place}/confirm", json={"people": 2, "by": "grace"})
    assert (answer.status_code, answer.json()["state"]) == (202, "restoring")
    async with memory.at_work():
        await restores.go_on(memory.app, NOBODY)
        ended = (await api.get(place)).json()["restore"]
        assert (ended["state"], ended["reached"], ended["facts"], ended["refused"]) == ("done", 3, 3, 0)
        assert await plans(memory) == AFTER
        undo = (await api.post("/api/restores", json={"at": ended["before"]})).json()
        await restores.go_on(memory.app, NOBODY)
        back = (await api.get(f"/api/restores/{undo['restore_id']}")).json()["restore"]
        assert back["changed"] == 2
        await api.post(f"/api/restores/{undo['restore_id']}/confirm", json={"people": 2})
        await restores.go_on(memory.app, NOBODY)
    assert await plans(memory) == BEFORE
    assert [one["state"] for one in (await api.get("/api/restores")).json()] == ["done", "done"]
    assert await differences(memory.app, stack) == set()


async def test_the_api_refuses_what_is_no_moment_of_this_memory(memory: Memory, api: httpx.AsyncClient) -> None:
    """To come, before anything was remembered, without an offset, none at all: by a code, and nothing is begun."""
    for at, code in (
        ("2026-03-01T00:00:00Z", "not_past_yet"),
        ("9999-12-31T23:59:59.999999+00:00", "not_past_yet"),
        ("2026-01-05T09:00:00Z", "before_memory"),
        ("0001-01-01T00:00:00Z", "before_memory"),
        ("2026-01-08T00:00:00", "invalid"),
        ("2026-01-08T00:00:00+99:00", "invalid"),
        ("x", "invalid"),
    ):
        answer = await api.post("/api/restores", json={"at": at})
        assert (answer.status_code, answer.json()["error"]) == (422, code), at
    for people in (0, -1, 2**40, "2' OR 1=1", None):
        refused = await api.post(f"/api/restores/{uuid4()}/confirm", json={"people": people})
        assert refused.status_code == 422, people
    assert (await api.post(f"/api/restores/{uuid4()}/confirm", json={"people": 1})).status_code == 404
    assert (await api.get(f"/api/restores/{uuid4()}")).status_code == 404
    assert (await api.delete(f"/api/restores/{uuid4()}")).status_code == 404
    assert (await api.get("/api/restores")).json() == []


async def test_a_token_needs_the_scope_to_bring_memory_back(memory: Memory) -> None:
    """`operations:read` sees how far it is, as ids and numbers; neither it nor `memory:write` begins one."""
    one = await looked(memory)
    async with client_of(memory, READER) as reader:
        seen = await reader.get(f"/api/restores/{one.restore_id}")
        assert seen.status_code == 200
        assert ADA not in seen.text
        assert "Team" not in seen.text
        assert (await reader.post("/api/restores", json={"at": THEN})).status_code == 403
        assert (await reader.post(f"/api/restores/{one.restore_id}/confirm", json={"people": 2})).status_code == 403
        assert (await reader.delete(f"/api/restores/{one.restore_id}")).status_code == 403


async def test_one_restore_at_a_time(memory: Memory) -> None:
    """What was not confirmed gives way to the next; what is being done does not, until it is stopped."""
    first = await looked(memory)
    second = await confirmed(memory)
    assert (await restores.found(memory.app, first.restore_id)).state == "stopped"
    with pytest.raises(restores.RestoreUnderWay):
        await looked(memory)
    with pytest.raises(restores.NotAsSeen):
        await restores.confirm(memory.app, second.restore_id, people=2, by="grace")
    assert (await restores.stop(memory.app, second.restore_id, by="ada")).state == "stopped"
    assert (await done(memory, second)).state == "stopped"
    assert await plans(memory) == BEFORE
    assert (await looked(memory)).state == "looked"


async def test_a_restore_that_was_cut_short_goes_on_and_asks_nothing_twice(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody decides at first: it waits and says so; the process dies over the first person, and the next goes on."""
    one = await confirmed(memory)
    with monkeypatch.context() as patch:
        patch.setattr(restores, "PERSON_S", 0.3)
        for _ in range(2):
            await restores.go_on(memory.app, NOBODY)
            waiting = await restores.found(memory.app, one.restore_id)
            assert (waiting.state, waiting.facts, waiting.waits) == ("restoring", 0, restores.WAITS)
    assert await requests(memory) == 1
    async with memory.at_work():
        dying = asyncio.create_task(restores.go_on(memory.app, NOBODY))
        while not await memory.rows("SELECT 1 FROM fact_log WHERE decision = 'retracted'"):
            await asyncio.sleep(0.01)
        dying.cancel()
        await asyncio.gather(dying, return_exceptions=True)
    ended = await done(memory, one)
    assert (ended.state, ended.reached, ended.waits) == ("done", 3, "")
    assert await plans(memory) == AFTER
    assert await requests(memory) == 3


async def test_what_is_said_after_the_confirmation_stays(memory: Memory) -> None:
    """Ada changes her plan before her turn comes: neither taken back nor replaced; the rest is brought back."""
    one = await confirmed(memory)
    memory.clock.forward(day(8))
    solo = "We are on the Solo plan now."
    await memory.tell(solo, fact("plan", "Solo", solo), on=8, sender=ADA)
    await done(memory, one)
    assert await plans(memory) == [["Solo"], ["Team"], ["Team"], []]


async def test_nobody_who_was_erased_is_brought_back(memory: Memory, stack: Endpoints) -> None:
    """Erased between the look and the yes, Bo has nothing afterwards: neither a fact nor a request that names one."""
    one = await confirmed(memory)
    await erase(memory.app, await found(memory.app, BO), by="grace")
    ended = await done(memory, one)
    assert (ended.state, ended.reached) == ("done", 2)
    assert await plans(memory) == [["Team"], [], ["Team"], []]
    assert await differences(memory.app, stack) == set()


async def test_who_is_erased_while_they_are_brought_back_is_not_brought_back(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The erase comes between reading what to add and asking for it: nothing is asked for, and the rest goes on."""
    current = "SELECT fact_id FROM facts WHERE participant_id = %(who)s AND superseded_at IS NULL"
    while rows := await memory.rows(current, who=memory.person(BO)):  # what one of them had replaced holds again
        await memory.ask("forget", 6, BO, fact_id=rows[0]["fact_id"])
    one = await confirmed(memory)
    before, erased = restoring._decided_of, []

    async def erasing(app: Any, participant_id: Any, key: str) -> str:
        if participant_id == memory.person(BO) and not erased:
            erased.append(await erase(app, await found(app, BO), by="grace"))
        return await before(app, participant_id, key)

    monkeypatch.setattr(restoring, "_decided_of", erasing)
    async with memory.at_work():
        while (ended := await restores.found(memory.app, one.restore_id)).state != "done":
            await restores.go_on(memory.app, NOBODY)
    assert erased
    assert ended.state == "done"
    assert await plans(memory) == [["Team"], [], ["Team"], []]
    assert not await memory.rows("SELECT 1 FROM facts WHERE participant_id = %(who)s", who=memory.person(BO))


async def test_an_admin_chooses_looks_confirms_by_the_number_and_undoes(
    memory: Memory, admin: httpx.AsyncClient
) -> None:
    """In their zone; shown by kind and person, escaped; a wrong number changes nothing; each act is in the record."""
    chosen = await form(await admin.get("/console/restores"), "/restores").send(
        admin, at="2026-01-08T01:00", zone="Europe/Berlin"
    )
    place = str(chosen.url.path)
    assert "All memory as of 2026-01-08 00:00:00 UTC" in text_of(chosen)
    assert "Looking what would change: 0 of 3 people" in text_of(chosen)
    await restores.go_on(memory.app, NOBODY)
    page = await admin.get(place)
    said = text_of(page)
    assert "2 people would change" in said
    assert "customer info 2 2" in said
    assert "bo@granite.example" in said
    assert HOSTILE not in page.text
    for typed in ("", "3", " 2 people", "²", "0x2"):
        refused = await form(page, "/confirm").send(admin, people=typed)
        assert refused.status_code == 422
        assert "Nothing was changed" in text_of(refused)
    assert await requests(memory) == 0
    going = await form(page, "/confirm").send(admin, people="2")
    assert "Bringing back: 0 of 3 people" in text_of(going)
    async with memory.at_work():
        await restores.go_on(memory.app, NOBODY)
        ended = await admin.get(place)
        assert "3 requests about facts were granted" in text_of(ended)
        assert await plans(memory) == AFTER
        again = await form(ended, "/restores").send(admin)
        await restores.go_on(memory.app, NOBODY)
        await form(await admin.get(str(again.url.path)), "/confirm").send(admin, people="2")
        await restores.go_on(memory.app, NOBODY)
    assert await plans(memory) == BEFORE
    acts = await memory.rows("SELECT by, act, status FROM console_audit WHERE act LIKE '/restores%%'")
    done = Counter(one["act"] for one in acts if one["status"] == 303)
    assert done == {"/restores": 2, "/restores/{restore_id}/confirm": 2}
    assert {one["by"] for one in acts} == {"Grace"}
    (row,) = await memory.rows("SELECT count(*) AS n FROM fact_log WHERE reason LIKE 'Grace%%'")
    assert row["n"] >= 3


@pytest.mark.parametrize(
    ("at", "zone"),
    [
        ("2026-01-13T00:00", "UTC"),
        ("2026-01-05T08:00", "UTC"),
        ("2026-01-08T00:00", "Europe/Atlantis"),
        ("2026-01-08T00:00", "../../etc/passwd"),
        ("2026-01-08T00:00", "/etc/passwd"),
        ("2026-01-08T00:00", "Europe"),
        ("2026-01-08T00:00", "a" * 5000),
        ("2026-01-08T00:00", ""),
        ("2026-02-30T00:00", "UTC"),
        ("0001-01-01T00:00", "Asia/Tokyo"),
        ("9999-12-31T23:59", "America/Los_Angeles"),
        ("٢٠٢٦-٠١-٠٨T00:00", "UTC"),
        (HOSTILE, HOSTILE),
        ("", "UTC"),
    ],
)
async def test_a_moment_that_is_none_is_asked_for_again(
    memory: Memory, admin: httpx.AsyncClient, at: str, zone: str
) -> None:
    """In words, on the page that asks for it; and nothing is begun."""
    page = await form(await admin.get("/console/restores"), "/restores").send(admin, at=at, zone=zone)
    assert page.status_code == 422
    assert 'role="alert"' in page.text
    assert HOSTILE not in page.text
    assert await memory.rows("SELECT 1 FROM restores") == []


async def test_only_an_admin_sees_and_does_it(memory: Memory, admin: httpx.AsyncClient) -> None:
    """An agent and a viewer find no page and no link, and their forms do nothing."""
    one = await looked(memory)
    fields = form(await admin.get(f"/console/restores/{one.restore_id}"), "/confirm").fields
    assert (await admin.get(f"/console/restores/{uuid4()}")).status_code == 404
    for name, role in (("Ann", "agent"), ("Vic", "viewer")):
        async with signed_in(memory.app, name, role=role) as other:  # type: ignore[arg-type]
            assert "/restores" not in (await other.get("/console/settings")).text
            for path in ("/console/restores", f"/console/restores/{one.restore_id}"):
                assert (await other.get(path)).status_code == 403
                assert (await other.post(path, data=fields)).status_code in (403, 405)
            for act in ("confirm", "stop"):
                answer = await other.post(f"/console/restores/{one.restore_id}/{act}", data={**fields, "people": "2"})
                assert answer.status_code == 403
    assert (await restores.found(memory.app, one.restore_id)).state == "looked"
