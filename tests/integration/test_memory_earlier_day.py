"""A person as they were known on an earlier day, and brought back to it: over HTTP, and on the console's pages."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest

from deploy.local import Endpoints
from services.core.web import make_app
from services.web.console import past
from services.web.routes import routes
from tests.support.beginning import after
from tests.support.console import form, signed_in, text_of
from tests.support.remembering import ADA, Memory, day, fact, remembering

TOKEN = "a token for tests"
HOSTILE = "<img src=x onerror=alert(1)>"
TEAM, GROWTH = "We are on the Team plan now.", f"We are on the {HOSTILE} plan now."


async def changed(one: Memory) -> None:
    """One plan, and another one."""
    await one.tell(TEAM, fact("plan", "Team", TEAM), on=1)
    await one.tell(GROWTH, fact("plan", HOSTILE, GROWTH), on=5)
    one.clock.forward(day(7))


@pytest.fixture
async def memory(stack: Endpoints, template_database: str, topic_prefix: str, tmp_path: Path) -> AsyncIterator[Memory]:
    """A plan of 6 January 2026, and one since the 10th, whose name means harm; it is the 12th."""
    async with after(
        changed, remembering, stack, template_database, topic_prefix, tmp_path, web={"api_token": TOKEN}
    ) as one:
        yield one


@pytest.fixture
async def api(memory: Memory) -> AsyncIterator[httpx.AsyncClient]:
    """A program with a token."""
    transport = httpx.ASGITransport(make_app([routes(memory.app)]), raise_app_exceptions=False)
    headers = {"authorization": f"Bearer {TOKEN}"}
    async with httpx.AsyncClient(transport=transport, base_url="http://deployment", headers=headers) as client:
        yield client


@pytest.fixture
async def admin(memory: Memory) -> AsyncIterator[httpx.AsyncClient]:
    """An admin who is signed in."""
    async with signed_in(memory.app) as client:
        yield client


def place(memory: Memory, what: str = "as-of?day=2026-01-07") -> str:
    return f"/console/people/{memory.person()}/{what}"


async def test_the_api_says_what_would_change_and_does_it(memory: Memory, api: httpx.AsyncClient) -> None:
    """Looking changes nothing; done, the decisions are said; done again, there is nothing to do."""
    at, path = "2026-01-08T00:00:00Z", f"/api/participants/{ADA}/restore"
    seen = (await api.get(path, params={"at": at})).json()
    assert [[one["value"] for one in seen[part]] for part in ("came", "gone")] == [[HOSTILE], ["Team"]]
    assert await memory.current("plan") == [HOSTILE]
    async with memory.at_work():
        answer = await api.post(path, json={"at": at, "by": "grace"})
        assert answer.status_code == 200
        assert [one["decision"] for one in answer.json()["decisions"]] == ["retracted"]
        assert (await api.post(path, json={"at": at})).json() == {"decisions": [], "done": True}
    assert await memory.current("plan") == ["Team"]


async def test_the_api_refuses_what_is_no_moment_of_the_past(memory: Memory, api: httpx.AsyncClient) -> None:
    """A moment to come, one without its offset, none, somebody unknown: each by its code, and nothing is asked."""
    path = f"/api/participants/{ADA}/restore"
    for at, code in (("2026-03-01T00:00:00Z", "not_past_yet"), ("2026-01-08T00:00:00", "invalid"), ("x", "invalid")):
        for answer in (await api.get(path, params={"at": at}), await api.post(path, json={"at": at})):
            assert (answer.status_code, answer.json()["error"]) == (422, code)
    nobody = await api.post("/api/participants/no@one.example/restore", json={"at": "2026-01-08T00:00:00Z"})
    assert nobody.status_code == 404
    assert not await memory.rows("SELECT 1 FROM events WHERE type = 'fact.requested.v1'")


async def test_where_nobody_decides_the_api_says_so_and_asks_once(
    memory: Memory, api: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """202 and not done; the same request again adds nothing."""
    monkeypatch.setattr("services.web.restores.WAIT_S", 0.2)
    for _ in range(2):
        answer = await api.post(f"/api/participants/{ADA}/restore", json={"at": "2026-01-08T00:00:00Z"})
        assert (answer.status_code, answer.json()["done"]) == (202, False)
    assert len(await memory.rows("SELECT 1 FROM events WHERE type = 'fact.requested.v1'")) == 1


async def test_a_page_shows_a_person_as_of_a_day_and_changes_nothing(memory: Memory, admin: httpx.AsyncClient) -> None:
    """Found from the person's page; the banner says the day; the only forms are those of every page and the day's."""
    person = await admin.get(place(memory, "").rstrip("/"))
    assert form(person, "/as-of").fields == {"day": ""}
    page = await admin.get(place(memory))
    assert "As of 7 January 2026 , at 23:59 UTC" in text_of(page)
    assert "plan Team" in text_of(page)
    assert HOSTILE not in page.text
    assert "img src" not in text_of(page)
    for act in ("correct", "pin", "forget", "brief"):
        assert f'/{act}"' not in page.text
    today = text_of(await admin.get(place(memory, "as-of?day=2026-01-12")))
    assert "img src" in today
    assert "Team" not in today
    assert "Nothing was known" in text_of(await admin.get(place(memory, "as-of?day=2025-12-24")))


@pytest.mark.parametrize("typed", ["2026-01-13", "2026-02-30", "yesterday", "9999-12-31", "0", "٢٠٢٦-٠١-٠٧"])
async def test_a_day_that_is_none_or_has_not_come_is_asked_for_again(
    memory: Memory, admin: httpx.AsyncClient, typed: str
) -> None:
    """In words, on the page that asks for it; and no restore is offered for it."""
    page = await admin.get(place(memory, "as-of"), params={"day": typed})
    assert page.status_code == 422
    assert "Give a day that has come" in text_of(page)
    assert (await admin.get(place(memory, "restore"), params={"day": typed})).status_code == 422


async def test_an_admin_sees_what_a_restore_would_change_and_does_it(memory: Memory, admin: httpx.AsyncClient) -> None:
    """Counted and named first; afterwards the fact of then holds, and by whom is in the history."""
    page = await admin.get(place(memory, "restore?day=2026-01-07"))
    assert "Taken back: 1 came since" in text_of(page)
    assert "Holds again: 1 gone since plan Team" in text_of(page)
    assert HOSTILE not in page.text
    asked = form(page, "/restore")
    async with memory.at_work():
        answer = await asked.send(admin)
    assert "Brought back." in text_of(answer)
    assert await memory.current("plan") == ["Team"]
    (row,) = await memory.rows("SELECT reason FROM fact_log WHERE decision = 'retracted'")
    assert "Grace" in row["reason"]
    assert "Nothing has changed since." in text_of(await admin.get(place(memory, "restore?day=2026-01-07")))


async def test_a_restore_that_is_not_decided_yet_says_so(
    memory: Memory, admin: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody is at work: the request is stored, and sent twice it is one."""
    monkeypatch.setattr(past, "WAIT_S", 0.2)
    asked = form(await admin.get(place(memory, "restore?day=2026-01-07")), "/restore")
    for _ in range(2):
        assert "has not been decided yet" in text_of(await asked.send(admin))
    assert len(await memory.rows("SELECT 1 FROM events WHERE type = 'fact.requested.v1'")) == 1


async def test_only_an_admin_brings_a_person_back(memory: Memory, admin: httpx.AsyncClient) -> None:
    """An agent and a viewer see the day; neither the preview nor its button is for them."""
    token = form(await admin.get(place(memory, "restore?day=2026-01-07")), "/restore").fields
    for name, role in (("Ann", "agent"), ("Vic", "viewer")):
        async with signed_in(memory.app, name, role=role) as other:  # type: ignore[arg-type]
            page = await other.get(place(memory))
            assert page.status_code == 200
            assert "bringing this back" not in page.text
            assert (await other.get(place(memory, "restore?day=2026-01-07"))).status_code == 403
            assert (await other.post(place(memory, "restore"), data=token)).status_code == 403
    assert await memory.current("plan") == [HOSTILE]
