"""One person under several addresses: merged, read as one, settled by policy, and taken apart as if nothing had been."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator
from datetime import date
from pathlib import Path
from typing import Any

import httpx
import pytest

from deploy.local import Endpoints
from schemas.events.memory import MailSignals
from schemas.events.merging import ParticipantMergeRequested
from services.core.archive.archive import archive_of
from services.core.bus.runner import enter
from services.core.db import fetch_one
from services.core.web import make_app
from services.load_memory.turn import SQL as CONTEXT
from services.operations.erase.person import person
from services.operations.erase.run import erase
from services.operations.erase.survey import survey
from services.operations.memory import facts as reading
from services.operations.memory import past
from services.operations.memory import search as finding
from services.operations.rebuild.projections import fold, state_hash
from services.operations.rebuild.shadow_schema import connected
from services.track_threads.apply import SQL as THREADS
from services.web.routes import routes
from tests.support.remembering import Memory, day, fact, remembering
from tests.support.stack import fresh_database

TOKEN = "a token for tests"
WORK, HOME, OTHER = "ada@acme.example", "ada@home.example", "eve@else.example"
KEPT = "SELECT * FROM facts ORDER BY fact_id"
SOURCES = "SELECT * FROM fact_sources ORDER BY fact_id, version"


@pytest.fixture
async def memory(stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path) -> AsyncIterator[Memory]:
    """Ada at work and at home, with a plan each and words of their own; and Eve, who is somebody else."""
    async with remembering(stack, database, topic_prefix, tmp_path, web={"api_token": TOKEN}) as one:
        await told(one, WORK, "Team", on=1)
        await told(one, HOME, "Pro", on=2)
        await told(one, OTHER, "Free", on=3)
        yield one


async def told(memory: Memory, addr: str, plan: str, *, on: float, **given: Any) -> dict[str, Any]:
    """A mail that tells a plan and what its writer uses, with a brief and a session that say so."""
    word = addr.translate(str.maketrans("@.", "xx"))
    text = f"We are on the {plan} plan. We use {word} every day."
    mail = await memory.mail(text, on=on, sender=addr)
    claims = [fact("plan", plan, f"on the {plan} plan"), fact("uses", word, f"use {word}", kind="preference")]
    await memory.learn(mail, *claims, brief=f"brief of {word} {plan}", summary=f"{word} {plan}", **given)
    return mail


async def ask(memory: Memory, op: str, who: str, into: str, on: float) -> str:
    """What becomes of a person's request."""
    ids = {"participant_id": memory.person(who), "into": memory.person(into)}
    command = memory.event(ParticipantMergeRequested.model_validate({**ids, "op": op, "by": "grace"}), day(on))
    await enter(memory.app, command)
    await memory.settle()
    rows = await memory.rows(
        "SELECT decision, reason FROM fact_log WHERE cause = %(id)s AND fact_id IS NULL", id=command.id
    )
    return f"{rows[0]['decision']}: {rows[0]['reason']}"


async def believed(memory: Memory, addr: str) -> set[str]:
    """The values that people are shown of somebody, each found by meaning as well."""
    async with memory.app.database.reading() as conn:
        current = await reading.current(conn, memory.workspace, memory.person(addr), memory.clock())
    found = await finding.find(memory.app, memory.person(addr), "which plan, what is used", now=day(20), limit=50)
    values = {one.value for one in current}
    assert {one.fact.value for one in found.hits} == values
    return values


async def test_who_reads_one_reads_both_and_the_policy_settles_what_differs(memory: Memory) -> None:
    """The newer plan stands, both habits do, and somebody else's memory is not in it; a person's word outranks all."""
    both = {"Pro", "adaxacmexexample", "adaxhomexexample"}
    said = await ask(memory, "merge", HOME, WORK, 4)
    assert said == "merged with another participant: grace; plan: the newer one stands"
    assert await believed(memory, WORK) == await believed(memory, HOME) == both
    assert await believed(memory, OTHER) == {"Free", "evexelsexexample"}
    await memory.ask("add", 5, WORK, key="plan", value="Enterprise", kind="customer_info")
    assert await believed(memory, HOME) == (both - {"Pro"}) | {"Enterprise"}
    async with memory.app.database.reading() as conn:
        who = (conn, memory.workspace, memory.person(HOME))
        then = await past.as_of(*who, valid_at=day(1.5), known_at=day(9))
        assert {one.value for one in then} == {"Team", "adaxacmexexample"}
        assert len(await reading.history(*who, day(9))) == 5


async def test_a_merged_person_is_shown_as_the_address_that_wrote_last(memory: Memory) -> None:
    """State and address are those of the last mail, also within a day; risk and the row are the worst of all."""

    async def feels(addr: str, on: float, state: str = "", *, angry: bool = False) -> None:
        mail = await memory.mail("Hello.", on=on, sender=addr)
        signals = MailSignals(frustrated=angry, sentiment=-1 if angry else 0)
        await memory.learn(mail, participant_state=state, participant_state_reason="says so", signals=signals)

    async def shown() -> tuple[Any, ...]:
        async with memory.app.database.reading() as conn:
            row = await fetch_one(conn, CONTEXT.participant, {"participant_id": memory.person(WORK)})
            rule = await fetch_one(conn, THREADS.occasion_person, {"participant_id": memory.person(HOME)})
        assert row is not None
        assert rule is not None
        assert (rule["state"], rule["risk"]) == (row["state"], row["risk"])
        return row["addr"], row["state"], row["risk"], row["frustrated_in_row"], row["first_seen_at"]

    await feels(WORK, 4, "customer")
    await feels(HOME, 5, "prospect")
    await ask(memory, "merge", HOME, WORK, 6)
    for on in (10, 11, 12):
        await feels(WORK, on, "at_risk", angry=True)
    assert await shown() == (WORK, "at_risk", "high", 3, day(1))
    await feels(HOME, 12.1)
    assert await shown() == (HOME, "prospect", "high", 3, day(1))
    await feels(WORK, 12.2)
    assert await shown() == (WORK, "at_risk", "medium", 0, day(1))


async def test_taken_apart_all_is_as_it_was(memory: Memory) -> None:
    """Facts and sources are the same rows; what came while they were one stays with whose mail it was; briefs return."""
    before = await memory.rows(KEPT), await memory.rows(SOURCES)
    briefs = await memory.rows("SELECT participant_id, text FROM briefs ORDER BY participant_id")
    await ask(memory, "merge", HOME, WORK, 4)
    assert (await ask(memory, "unmerge", HOME, WORK, 5)).startswith("taken apart from another participant")
    assert (await memory.rows(KEPT), await memory.rows(SOURCES)) == before
    assert await memory.rows("SELECT participant_id, text FROM briefs ORDER BY participant_id") == briefs
    await ask(memory, "merge", HOME, WORK, 6)
    await told(memory, HOME, "Max", on=7)
    assert "Max" in await believed(memory, WORK)
    await ask(memory, "unmerge", HOME, WORK, 8)
    assert await believed(memory, WORK) == {"Team", "adaxacmexexample"}
    assert await believed(memory, HOME) == {"Max", "adaxhomexexample"}
    assert await memory.rows("SELECT participant_id, text FROM briefs ORDER BY participant_id") == briefs
    (session,) = await memory.rows("SELECT * FROM sessions WHERE participant_id = %(id)s", id=memory.person(HOME))
    assert (session["summary"], session["expires_at"]) == ("", day(8))


async def test_what_holds_no_water_is_refused_in_words(memory: Memory) -> None:
    """Nobody with themselves, with a stranger, twice, in a ring, or apart from whom they were never one with."""
    assert "nobody is merged with themselves" in await ask(memory, "merge", WORK, WORK, 4)
    assert "there is no such participant" in await ask(memory, "merge", WORK, "nobody@acme.example", 4)
    assert "they are not merged" in await ask(memory, "unmerge", HOME, WORK, 4)
    await ask(memory, "merge", HOME, WORK, 5)
    for who, into in ((HOME, WORK), (WORK, HOME)):
        assert "they are one person already" in await ask(memory, "merge", who, into, 6)
    assert "is merged into" in await ask(memory, "merge", HOME, OTHER, 6)
    assert "the participant is merged into" in await ask(memory, "unmerge", HOME, OTHER, 6)
    assert len(await memory.rows("SELECT 1 FROM participant_aliases")) == 1


async def test_requests_and_words_reach_the_fact_wherever_it_is_kept(memory: Memory) -> None:
    """A person pins, and the customer takes back, a fact of the other address; a stranger reaches neither."""
    await ask(memory, "merge", HOME, WORK, 4)
    rows = await memory.rows("SELECT fact_id, key FROM facts WHERE participant_id = %(id)s", id=memory.person(WORK))
    ids = {row["key"]: row["fact_id"] for row in rows}
    await memory.ask("pin", 5, OTHER, fact_id=ids["uses"])
    assert await memory.rows("SELECT 1 FROM facts WHERE pinned") == []
    await memory.ask("pin", 5, HOME, fact_id=ids["uses"])
    assert len(await memory.rows("SELECT 1 FROM facts WHERE pinned")) == 1
    gone = {"op": "delete", "fact_id": str(ids["uses"]), "kind": "preference"}
    for on, addr in ((6, OTHER), (7, HOME)):
        await memory.tell("We stopped using it.", fact("uses", "", "stopped using it", **gone), on=on, sender=addr)
        assert ("adaxacmexexample" in await believed(memory, WORK)) is (addr == OTHER)


async def test_what_holds_for_a_while_under_one_address_hides_nothing(memory: Memory) -> None:
    """A number for some days stands beside one without an end, however much it is trusted, and is not found afterwards."""
    kind = {"key": "phone", "kind": "contact_info"}
    await memory.ask("add", 4, HOME, **kind, value="333333", valid_to=date(2026, 1, 12))
    await ask(memory, "merge", HOME, WORK, 5)
    await memory.tell("My number is 444444 now.", fact("phone", "444444", "My number is 444444 now"), on=6)
    for on, numbers in ((6.5, {"333333", "444444"}), (15, {"444444"})):
        found = await finding.find(memory.app, memory.person(WORK), "What is my phone number?", now=day(on), limit=50)
        assert {one.fact.value for one in found.hits if one.fact.key == "phone"} == numbers


async def test_as_of_a_day_stands_what_is_shown_today(memory: Memory) -> None:
    """A person's word under one address outranks a newer mail under the other, then as now; one habit is told once."""
    await memory.ask("add", 1.5, WORK, key="plan", value="Enterprise", kind="customer_info")
    habit = fact("uses", "Slack", "We use Slack", kind="preference")
    for on, addr in ((4, WORK), (5, HOME)):
        await memory.tell("We use Slack.", habit, on=on, sender=addr)
    await ask(memory, "merge", HOME, WORK, 6)
    async with memory.app.database.reading() as conn:
        who = (conn, memory.workspace, memory.person(WORK))
        then = await past.as_of(*who, valid_at=day(9), known_at=day(9))
        now = await reading.current(*who, day(9))
    assert sorted(one.value for one in then) == sorted(one.value for one in now)
    assert [one.value for one in now if one.key == "plan"] == ["Enterprise"]


async def test_an_update_reaches_the_fact_of_the_other_address(memory: Memory) -> None:
    """It ends there and begins here; what is derived from the other's fact is believed, and stale when that ends."""
    await ask(memory, "merge", HOME, WORK, 4)
    (old,) = await memory.rows("SELECT fact_id FROM facts WHERE value = 'adaxacmexexample'")
    named = str(old["fact_id"])
    await memory.tell("So calls go through it too.", fact("calls", "adaxacmexexample", "calls go through it", derived_from=(named,)), on=5, sender=HOME)  # fmt: skip
    update = fact("uses", "Teams", "We use Teams", kind="preference", op="update", fact_id=named)
    await memory.tell("We use Teams instead.", update, on=6, sender=OTHER)
    assert "adaxacmexexample" in await believed(memory, WORK)
    await memory.tell("We use Teams instead.", update, on=7, sender=HOME)
    assert await memory.current("uses", WORK) == []
    assert await memory.current("uses", HOME) == ["Teams", "adaxhomexexample"]
    ended = "SELECT participant_id, valid_to, superseded_at FROM facts WHERE fact_id = %(id)s"
    (row,) = await memory.rows(ended, id=named)
    assert row == {"participant_id": memory.person(WORK), "valid_to": day(7), "superseded_at": day(7)}
    stale = await memory.rows("SELECT key, participant_id FROM facts WHERE stale_since IS NOT NULL")
    assert stale == [{"key": "calls", "participant_id": memory.person(HOME)}]


async def test_the_tables_are_a_fold_of_merges_too(stack: Endpoints, memory: Memory, template_database: str) -> None:
    """Merged, taken apart and merged again: the events folded anew, each participant by itself, give the same tables."""
    for on, op in enumerate(("merge", "unmerge", "merge"), 4):
        await ask(memory, op, HOME, WORK, on)
    with fresh_database(stack.database, template=template_database) as target:
        async with connected(memory.app.settings.database_url, memory.app.keys) as source:
            await fold(source, target)
        async with connected(target) as conn:
            assert await state_hash(conn) == await memory.state()


async def test_whoever_is_erased_both_are(memory: Memory) -> None:
    """Named by either address, nothing of both is left, the alias is gone, and the stranger keeps all."""
    await ask(memory, "merge", HOME, WORK, 4)
    people_found, names = await person(memory.app, WORK)
    assert (people_found, names) == ({memory.person(WORK), memory.person(HOME)}, {WORK, HOME})
    async with memory.app.database.reading() as conn:
        found = await survey(conn, memory.workspace, people_found, names, archive_of(memory.app.settings))
    await erase(memory.app, found, by="the test")
    assert {row["participant_id"] for row in await memory.rows(KEPT)} == {memory.person(OTHER)}
    for table in ("participant_aliases", "mails"):
        rows = await memory.rows(f"SELECT * FROM {table}")
        assert {row["participant_id"] for row in rows} <= {memory.person(OTHER)}


async def test_fuzzed_merges_show_nobody_elses_memory(memory: Memory) -> None:
    """Whatever is merged and taken apart, each is shown exactly what those know who are one with them."""
    everybody = (WORK, HOME, OTHER, "bob@acme.example", "cyd@acme.example")
    for on, addr in enumerate(everybody[3:], 4):
        await told(memory, addr, "Free", on=on)
    dice, groups = random.Random(5), {one: {one} for one in everybody}
    merged: list[tuple[str, str]] = []
    for step in range(12):
        if merged and dice.random() < 0.4:
            pair = merged.pop(dice.randrange(len(merged)))
            assert (await ask(memory, "unmerge", *pair, 10 + step)).startswith("taken apart")
        else:
            who, into = dice.sample(everybody, 2)
            fits = into not in groups[who] and all(who != one for one, _ in merged)
            said = await ask(memory, "merge", who, into, 10 + step)
            assert said.startswith("merged with") is fits, said
            merged += [(who, into)] if fits else []
        groups = _groups(everybody, merged)
        for one in dice.sample(everybody, 2):
            words = {value for value in await believed(memory, one) if "xexample" in value}
            assert words == {other.translate(str.maketrans("@.", "xx")) for other in groups[one]}


async def test_over_http_people_are_merged_shown_and_taken_apart(memory: Memory) -> None:
    """200 with the decision, 409 with the reason, 404 for nobody; the other addresses are listed."""
    transport = httpx.ASGITransport(make_app([routes(memory.app)]), raise_app_exceptions=False)
    headers = {"authorization": f"Bearer {TOKEN}"}
    async with (
        httpx.AsyncClient(transport=transport, base_url="http://deployment", headers=headers) as api,
        memory.at_work(),
    ):
        path = f"/api/participants/{HOME}"
        done = await api.post(f"{path}/merge", json={"into": WORK, "reason": "she said so", "by": "grace"})
        assert (done.status_code, done.json()["decision"]) == (200, "merged with another participant")
        again = await api.post(f"{path}/merge", json={"into": WORK})
        assert (again.status_code, again.json()["message"]) == (409, "they are one person already")
        assert (await api.post(f"{path}/merge", json={"into": "nobody@x.example"})).status_code == 404
        assert [one["addr"] for one in (await api.get(f"{path}/same-person")).json()] == [WORK]
        assert (await api.delete(f"{path}/merge/{WORK}")).status_code == 200
        assert (await api.get(f"{path}/same-person")).json() == []


def _groups(everybody: tuple[str, ...], merged: list[tuple[str, str]]) -> dict[str, set[str]]:
    groups = {one: {one} for one in everybody}
    for who, into in merged:
        joined = groups[who] | groups[into]
        for one in joined:
            groups[one] = joined
    return groups
