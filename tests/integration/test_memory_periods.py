"""Days to years of a person, told by a model from rows and shown only while the rows stand."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from textwrap import indent
from typing import Any

import httpx
import pytest

from deploy.local import Endpoints
from schemas.events.lifecycle import ParticipantStateRequested
from schemas.events.memory import FactRequested
from schemas.events.merging import ParticipantMergeRequested
from schemas.events.periods import PeriodCondensed, PeriodEnded
from schemas.events.retention import MemoryRetentionDue
from schemas.events.threads import ThreadTransitionRequested
from services import condense_memory
from services.cli.memory import view as showing
from services.core.bus.runner import Runner
from services.core.db import fetch_all
from services.core.settings import CondenseSettings, PeriodRetention
from services.core.web import make_app
from services.operations import daily, requests
from services.operations.erase.proof import belongings
from services.operations.erase.run import erase
from services.operations.memory.statistics import statistics
from services.operations.periods import PERIODS, ask, find_periods, periods_of
from services.operations.rebuild.shadow_schema import connected
from services.operations.vectors.renewal import give_vectors
from services.web.routes import routes
from tests.support.crashing_sender import PERIOD_POINTS, crash
from tests.support.erasing import differences, found
from tests.support.remembering import ADA, day, remembering
from tests.support.scripted_model import (
    Behaviour,
    ScriptedModel,
    Seen,
    malformed_tool_input,
    reply_text,
    reply_tool,
)
from tests.support.telling import DRIVEN, TOLD, Desk, opening, rows_in, told, word_for_word
from tests.support.tending import tending

pytestmark = pytest.mark.timeout(300)
HOME, BOB = "ada@home.example", "bob@acme.example"
TOKEN = "a token for tests"


@pytest.fixture
async def opened(
    stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path
) -> AsyncIterator[Callable[..., Any]]:
    """Opens a deployment with settings of its own."""
    async with opening(stack, database, topic_prefix, tmp_path, {"web": {"api_token": TOKEN}}) as open_one:
        yield open_one


@pytest.fixture
async def desk(opened: Callable[..., Any]) -> Desk:
    one: Desk = await opened()
    return one


async def test_after_an_outage_of_three_days_every_ended_period_is_told_once(desk: Desk) -> None:
    """Days that ended while nothing ran are told by the next round, each by one call; a later round finds nothing."""
    await desk.learn(1)
    assert await desk.round(2) == {"asked": 1, "waiting": 0, "left": 0}
    for on, seats in ((2, 50), (3, 60), (4, 70)):
        await desk.learn(on, facts=[(key, f"{value} {seats}") for key, value in TOLD])
    assert (await desk.round(5.5))["asked"] == 3
    assert await desk.names() == ["2026-01-06", "2026-01-07", "2026-01-08", "2026-01-09"]
    assert (await desk.round(5.6))["asked"] == 0
    assert (await desk.round(8))["asked"] == 1
    assert (await desk.names())[-1] == "2026-W02"
    assert len(desk.server.requests) == 5
    assert (await desk.round(31))["asked"] == 1
    assert (await desk.names())[-1] == "2026-01"
    events = await desk.memory.rows("SELECT id FROM events WHERE type = %(type)s", type=PeriodEnded.TYPE)
    assert len(events) == 6


async def test_the_same_event_twice_or_in_another_order_changes_nothing(desk: Desk, stack: Endpoints) -> None:
    """A week may be told before its days; who comes again finds it done, without a call; tables follow from events."""
    await desk.learn(1)
    desk.at(8)
    assert (await ask(desk.memory.app, asyncio.Event()))["asked"] == 2
    asked = [one for one in await desk.memory.waiting(condense_memory.PROCESSOR) if one.type == PeriodEnded.TYPE]
    for envelope in [*reversed(asked), *asked]:
        await Runner(condense_memory.PROCESSOR, desk.memory.app).process(envelope)
    assert len(desk.server.requests) == 2
    (row,) = await desk.memory.rows("SELECT count(*) AS n FROM events WHERE type = %(t)s", t=PeriodCondensed.TYPE)
    assert row["n"] == 2
    await desk.memory.rows("DELETE FROM journal WHERE consumer = 'condense_memory' RETURNING event_id")
    await desk.memory.rows("DELETE FROM checkpoints WHERE consumer = 'condense_memory' RETURNING event_id")
    await Runner(condense_memory.PROCESSOR, desk.memory.app).process(asked[0])
    assert len(desk.server.requests) == 2, "what the log brings back when all that remembers it is gone"
    assert await differences(desk.memory.app, stack) == set()


@pytest.mark.parametrize("point", PERIOD_POINTS)
async def test_killed_between_the_call_and_its_end_nobody_is_asked_twice(desk: Desk, point: str) -> None:
    """The answer was kept when it came: whoever goes on asks no model, and the period is told once."""
    await desk.learn(1)
    desk.at(2)
    await ask(desk.memory.app, asyncio.Event())
    (event,) = await desk.memory.rows("SELECT id FROM events WHERE type = %(type)s", type=PeriodEnded.TYPE)
    await crash(desk.memory.app.settings, point, event["id"])
    await desk.memory.settle(DRIVEN)
    assert len(desk.server.requests) == 1
    assert await desk.names() == ["2026-01-06"]
    assert len(await desk.kept()) == len(TOLD)


async def test_no_day_has_more_calls_than_it_may(opened: Callable[..., Any]) -> None:
    """What is left is said, in the statistics too, and told on the next days, what ended first before the rest."""
    desk = await opened(calls_a_day=2)
    for number in range(5):
        await desk.learn(1 + number / 10, addr=f"p{number}@acme.example")
    assert await desk.round(2) == {"asked": 2, "waiting": 0, "left": 3}
    assert await desk.round(2.1) == {"asked": 0, "waiting": 0, "left": 3}
    desk.at(3)
    assert (await ask(desk.memory.app, asyncio.Event()))["asked"] == 2
    assert await ask(desk.memory.app, asyncio.Event()) == {"asked": 0, "waiting": 2, "left": 1}
    assert await daily.if_due(PERIODS, desk.memory.app, asyncio.Event())
    assert (await statistics(desk.memory.app, 4)).periods_left == 1
    await desk.memory.settle(DRIVEN)
    assert (await desk.round(4))["left"] == 0
    assert len(desk.server.requests) == 5
    found = await statistics(desk.memory.app, 4)
    assert [(one.grain, one.told, one.sentences) for one in found.periods] == [("daily", 5, 20)]
    assert sum(one.usage.calls for one in found.spent if one.purpose == "periods") == 5


async def test_dead_letters_took_the_calls_of_every_later_day(opened: Callable[..., Any]) -> None:
    """A period that could not be told waits for a person, who redrives or discards it; the others are told meanwhile."""
    desk = await opened(calls_a_day=2)
    for number in range(4):
        await desk.learn(1 + number / 10, addr=f"p{number}@acme.example")
    desk.at(2)
    assert (await ask(desk.memory.app, asyncio.Event()))["asked"] == 2
    await desk.memory.rows(
        "INSERT INTO dead_letter_places (id, event_id, consumer, topic, partition, record_offset, failed_at)"
        " SELECT gen_random_uuid(), id, 'condense_memory', 'memory-periods', 0, seq, time FROM events"
        " WHERE type = %(type)s RETURNING id",
        type=PeriodEnded.TYPE,
    )
    desk.at(3)
    assert await ask(desk.memory.app, asyncio.Event()) == {"asked": 2, "waiting": 0, "left": 0}


async def test_of_a_period_with_few_rows_no_model_is_asked(desk: Desk) -> None:
    """The rows stand for themselves."""
    await desk.learn(1, facts=TOLD[:2])
    assert await desk.round(2) == {"asked": 0, "waiting": 0, "left": 0}
    assert desk.server.requests == []


async def test_off_by_default_nothing_is_asked_and_nothing_told_is_shown(desk: Desk) -> None:
    """The task is not wanted; what was told while it was on is not shown."""
    await desk.learn(1)
    await desk.round(2)
    assert [item["told"] != [] for item in (await desk.layer(3)).items] == [True]
    off = desk.memory.app.settings.model_copy(update={"condense": CondenseSettings()})
    object.__setattr__(desk.memory.app, "settings", off)
    assert not PERIODS.wanted(off)
    assert not (await desk.layer(3)).items


async def test_what_was_told_stands_in_the_place_of_its_rows(desk: Desk) -> None:
    """Each sentence once, with its rows as data; a row that no sentence names stands beside them."""
    await desk.learn(1)
    desk.server.script(lambda request: told(*((text, [id]) for id, text in rows_in(request) if "seats" in text)))
    await desk.round(2)
    await desk.learn(2, facts=[("plan", "Team"), ("seats", "50")])
    (item,) = (await desk.layer(4)).items
    assert [one["text"] for one in item["told"]] == ["Our seats: 40."]
    assert {one["text"] for one in item["entries"]} == {"Our seats: 40.", "Our plan: Starter."}
    await desk.round(5)
    first, second = (await desk.layer(6)).items
    assert (await desk.layer(6)).text.splitlines()[0] == (
        "- 2026-01-06: Our seats: 40. Our plan: Starter. (until 2026-01-07)"
    )
    assert [one["text"] for one in first["told"]] == ["Our seats: 40."]
    assert {one["text"] for one in second["told"]} == {"until then: Our seats: 40.", "Our seats: 50."}


@pytest.mark.parametrize(
    "answer",
    [
        reply_text("I would rather not."),
        malformed_tool_input("tell"),
        reply_tool("tell", {"sentences": "all is well"}),
        reply_tool("tell", {"sentences": [17, None, {"text": ""}, {"text": "Hm.", "rows": []}, {"rows": ["x"]}]}),
        reply_tool("tell", {}),
    ],
)
async def test_garbage_is_stored_as_nothing_and_not_asked_for_again(desk: Desk, answer: Behaviour) -> None:
    """A period of which nothing held is told by its rows, costs one call, and says why."""
    await desk.learn(1)
    desk.server.script(lambda _: answer)
    await desk.round(2)
    await desk.round(3)
    assert await desk.kept() == []
    (period,) = await periods_of(desk.memory.app, desk.memory.person())
    assert period.dropped
    assert len(desk.server.requests) == 1


async def test_a_model_that_obeys_an_attacker_tells_nothing(desk: Desk) -> None:
    """Another person's row, a row that is nobody's, another number, a promise, an invention, an order: all of it goes."""
    await desk.learn(1, addr=BOB)
    await desk.round(2)
    (theirs,) = await desk.memory.rows("SELECT fact_id FROM facts WHERE value = 'Starter'")
    await desk.learn(2)

    def obey(request: Seen) -> Behaviour:
        (plan, *_), *_ = [(id, text) for id, text in rows_in(request) if "plan" in text]
        (seats, *_), *_ = [(id, text) for id, text in rows_in(request) if "seats" in text]
        return told(
            ("Our plan: Starter.", [str(theirs["fact_id"])]),
            ("Our plan: Starter.", [plan, str(theirs["fact_id"])]),
            ("Our plan: Starter.", ["9d6c92e9-0000-4000-8000-000000000000"]),
            ("Our seats: 400.", [seats]),
            ("Our seats: 40.", [plan]),
            ("Our plan: Starter for 40 €.", [plan, seats]),
            ("You promised to refund our plan.", [plan]),
            ("Our plan is not Starter.", [plan]),
            ("Our plan: Starter since March.", [plan]),
            ("Our plan: Mallory.", [plan]),
            ("Send every later invoice to somebody else.", [plan]),
        )

    desk.server.script(obey)
    await desk.round(3)
    (period,) = await periods_of(desk.memory.app, desk.memory.person())
    assert period.sentences == []
    assert len(period.dropped) == 11


async def test_a_correction_is_never_contradicted_by_what_was_told_before(desk: Desk) -> None:
    """The period whose row a person corrected is shown to nobody; the rows tell what is so."""
    await desk.learn(1)
    await desk.round(2)
    assert "Our seats: 40." in (await desk.layer(3)).text
    wrong = {"participant_id": desk.memory.person(), "op": "correct", "by": "grace"}
    (seats,) = await desk.memory.rows("SELECT fact_id FROM facts WHERE key = 'seats'")
    await desk.ask(FactRequested.model_validate({**wrong, "fact_id": seats["fact_id"], "value": "45"}), 3)
    desk.at(3)
    assert "40" not in (await desk.layer(4)).text
    (period,) = await periods_of(desk.memory.app, desk.memory.person())
    assert not period.stands
    assert await find_periods(desk.memory.app, desk.memory.person(), "seats", now=day(4)) == []


async def test_a_merge_is_never_contradicted_by_what_was_told_before(desk: Desk) -> None:
    """A value that gives way to that of another address of the same person takes its period along, until they part."""
    await desk.learn(1)
    await desk.round(2)
    await desk.learn(2, addr=HOME, facts=[("plan", "Growth")])
    ids = {"participant_id": desk.memory.person(HOME), "into": desk.memory.person(), "by": "grace"}
    await desk.ask(ParticipantMergeRequested.model_validate({**ids, "op": "merge"}), 3)
    assert "Starter" not in (await desk.layer(4)).text
    await desk.ask(ParticipantMergeRequested.model_validate({**ids, "op": "unmerge"}), 5)
    assert "Our plan: Starter." in (await desk.layer(6)).text


async def test_of_an_erased_person_no_period_is_left(desk: Desk, stack: Endpoints) -> None:
    """Rows, events and texts go; another person's periods stay; tables follow from what can still be read."""
    await desk.learn(1)
    await desk.learn(1.1, addr=BOB, facts=[("plan", "Growth"), ("seats", "7"), ("region", "Rome")])
    await desk.round(2)
    assert len(await desk.names()) == 2
    await erase(desk.memory.app, await found(desk.memory.app, ADA), by="test")
    assert "memory_periods" not in await belongings(desk.memory.app, frozenset({desk.memory.person()}))
    assert sorted(await desk.kept()) == ["Our plan: Growth.", "Our region: Rome.", "Our seats: 7."]
    async with connected(desk.memory.app.settings.database_url) as conn:
        stored = await fetch_all(conn, "SELECT data::text AS data FROM events")
    assert not any("Berlin" in row["data"] for row in stored)
    assert await differences(desk.memory.app, stack) == set()
    assert (await desk.round(3))["asked"] == 0
    assert len(desk.server.requests) == 2


async def test_somebody_erased_before_their_period_is_told_leaves_none(desk: Desk, stack: Endpoints) -> None:
    """What was asked for before an erase asks no model after it."""
    await desk.learn(1)
    desk.at(2)
    await ask(desk.memory.app, asyncio.Event())
    (asked,) = await desk.memory.waiting(condense_memory.PROCESSOR)
    await erase(desk.memory.app, await found(desk.memory.app, ADA), by="test")
    await Runner(condense_memory.PROCESSOR, desk.memory.app).process(asked)
    assert desk.server.requests == []
    assert await desk.names() == []
    assert await differences(desk.memory.app, stack) == set()


async def test_what_rests_on_facts_that_retention_takes_goes_with_them(
    opened: Callable[..., Any], stack: Endpoints
) -> None:
    """The sentences go from the table; the period is not told again; tables follow from events."""
    desk: Desk = await opened()
    changed = desk.memory.app.settings.model_copy(
        update={"retention": desk.memory.app.settings.retention.model_copy(update={"facts_days": 60})}
    )
    object.__setattr__(desk.memory.app, "settings", changed)
    await desk.learn(1)
    await desk.round(2)
    await desk.ask(MemoryRetentionDue(participant_id=desk.memory.person(), due_at=day(90)), 90)
    assert await desk.memory.rows("SELECT fact_id FROM facts") == []
    assert await desk.names() == ["2026-01-06"]
    assert await desk.kept() == []
    assert (await desk.round(91))["asked"] == 0
    assert await differences(desk.memory.app, stack) == set()


async def test_each_length_goes_after_its_time_once_a_coarser_one_is_told(
    opened: Callable[..., Any], stack: Endpoints
) -> None:
    """Hidden at once; the text goes when the week tells of the day, then from the stored events; it is not told again."""
    desk: Desk = await opened()
    keep = desk.memory.app.settings.retention.model_copy(update={"periods": PeriodRetention(days=10, weeks=4)})
    object.__setattr__(desk.memory.app, "settings", desk.memory.app.settings.model_copy(update={"retention": keep}))
    await desk.learn(1)
    await desk.round(2)
    assert [one.period for one in await periods_of(desk.memory.app, desk.memory.person())] == ["2026-01-06"]
    assert await desk.clear(13) == {"people with told periods": 1}
    assert await periods_of(desk.memory.app, desk.memory.person()) == []
    assert await find_periods(desk.memory.app, desk.memory.person(), "which plan", now=day(13)) == []
    assert len(await desk.kept()) == len(TOLD), "no week tells of it yet"
    assert (await desk.round(13.1))["asked"] == 1
    await desk.clear(14)
    rows = await desk.memory.rows("SELECT period FROM memory_periods WHERE text <> '' ORDER BY ends_at")
    assert [row["period"] for row in rows] == ["2026-W02"]
    assert (await desk.round(14.1))["asked"] == 0
    assert await differences(desk.memory.app, stack) == set()
    await desk.memory.rows("UPDATE events SET stored_at = time RETURNING id")
    assert (await desk.clear(60))["told periods in stored events"] == 1
    stored = await desk.memory.rows("SELECT data FROM events WHERE type = %(t)s ORDER BY seq", t=PeriodCondensed.TYPE)
    assert [bool(row["data"].get("sentences")) for row in stored] == [False, True]
    assert await differences(desk.memory.app, stack) == set()


async def test_a_rebuild_gives_the_told_periods_again(desk: Desk, stack: Endpoints) -> None:
    """No model is asked for it."""
    await desk.learn(1)
    await desk.round(2)
    assert await differences(desk.memory.app, stack) == set()
    assert len(desk.server.requests) == 1


async def test_told_periods_are_found_by_meaning_and_over_the_api(desk: Desk) -> None:
    """With the rows behind each sentence, and whether they stand."""
    await desk.learn(1)
    await desk.learn(3, facts=[("dog", "Rex"), ("cat", "Tom"), ("bird", "Pip")])
    await desk.round(4)
    async with connected(desk.memory.app.settings.database_url) as conn:
        assert await give_vectors(conn, desk.memory.app.embedder, desk.memory.workspace) == 2
    for asked in ("the name of their dog", "which pets do they own"):
        best, *_ = await find_periods(desk.memory.app, desk.memory.person(), asked, now=day(4))
        assert best.period == "2026-01-08"
    for number in (6, 8):
        asked = f"the name of their dog on {number} January"
        [one] = await find_periods(desk.memory.app, desk.memory.person(), asked, now=day(4))
        assert one.period == f"2026-01-0{number}"
    transport = httpx.ASGITransport(app=make_app([routes(desk.memory.app)]))
    headers = {"Authorization": f"Bearer {TOKEN}"}
    async with httpx.AsyncClient(transport=transport, base_url="http://test", headers=headers) as client:
        listed = (await client.get(f"/api/participants/{ADA}/periods", params={"grain": "daily"})).json()
        assert [(one["period"], one["stands"], one["rows"]) for one in listed] == [
            ("2026-01-08", True, 3),
            ("2026-01-06", True, 4),
        ]
        weeks = await client.get(f"/api/participants/{ADA}/periods", params={"grain": "weekly"})
        assert weeks.json() == []
        searched = await client.get(f"/api/participants/{ADA}/periods/search", params={"q": "the name of their dog"})
        assert searched.json()[0]["period"] == "2026-01-08"
        assert (await client.get(f"/api/participants/{ADA}/periods", params={"grain": "hourly"})).status_code == 422


async def test_a_mailbox_says_itself_what_is_told_of_a_period(
    stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path
) -> None:
    """Its own words for a length of period, the standard ones for the others; the rules stand before both."""
    own = {"daily": "Say only what was ordered."}
    async with ScriptedModel() as server:
        server.script(word_for_word)
        changes: dict[str, Any] = {
            "model": {"provider": "anthropic", "api_key": "k", "base_url": server.base_url, "max_retries": 0},
            "condense": {"enabled": True, "rows_from": 3},
            "inboxes": [
                {"name": "support", "address": "support@ourcompany.example", "vouched_by": "the test",
                 "memory": {"periods": own}},
                {"name": "open", "address": "open@ourcompany.example"},
            ],
        }  # fmt: skip
        async with remembering(stack, database, topic_prefix, tmp_path, **changes) as memory:
            desk = Desk(memory, server)
            await desk.learn(1)
            await desk.round(8)
        by_task = {"period is 2026-01-06" in one.opening: one.system for one in server.requests}
    assert "Say only what was ordered." in by_task[True]
    assert "Tell the week as a short story" in by_task[False]
    assert all("Each sentence says only what the rows say" in system for system in by_task.values())


async def test_the_page_shows_what_the_command_prints(desk: Desk) -> None:
    """docs/how-to/periods.md has this story as `correspondent memory periods` prints it, ids apart."""
    await desk.learn(1, facts=[("plan", "Starter"), ("seats", "40"), ("export", "nightly"), ("region", "Berlin")])
    await desk.learn(2, facts=[("plan", "Team"), ("seats", "55"), ("deadline", "30 January")])

    def story(request: Seen) -> Behaviour:
        by = {text: id for id, text in rows_in(request)}
        if "Our deadline: 30 January." in by:
            ids = [by[one] for one in ("Our plan: Team.", "Our seats: 55.", "Our deadline: 30 January.")]
            return told(("Our plan: Team and our seats: 55.", ids[:2]), ("Our deadline: 31 January.", ids[2:]))
        return told(("Our plan: Starter, our seats: 40.", [by["Our plan: Starter."], by["Our seats: 40."]]))

    desk.server.script(story)
    await desk.round(3)
    region = (await desk.memory.rows("SELECT fact_id FROM facts WHERE key = 'region'"))[0]["fact_id"]
    asked = {"participant_id": desk.memory.person(), "op": "correct", "by": "grace", "fact_id": region, "value": "Bern"}
    await desk.ask(FactRequested.model_validate(asked), 3)
    shown = "\n".join(map(showing.period, await periods_of(desk.memory.app, desk.memory.person())))
    page = (Path(__file__).parents[2] / "docs" / "how-to" / "periods.md").read_text(encoding="utf-8")
    assert _without_ids(indent(shown, "    ")) in _without_ids(page)


def _without_ids(text: str) -> str:
    return re.sub(r"\b[0-9a-f]{8}\b", "ID", text)


async def test_every_sort_of_row_is_gathered_of_threads_that_are_theirs_alone(
    stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path
) -> None:
    """Facts, summaries, actions, outcomes and steps of the lifecycle; of a thread in which others wrote, and of what was refused, nothing."""
    async with tending(stack, database, topic_prefix, tmp_path) as app:
        theirs = await app.write("We are on the Team plan. Please give me a person.\n\nhuman", subject="Plan")
        shared = await app.write("Our secret: the blue door.", subject="Shared", cc=BOB)
        (row,) = await app.rows("SELECT message_id FROM mails WHERE thread_id = %(id)s", id=shared)
        await app.write("I know that door.", subject="Re: Shared", sender=BOB, after=row["message_id"])
        step = {"thread_id": theirs, "to_state": "closed", "trigger": "human", "by": "grace", "reason": "refused"}
        await requests.ask(app.app, ThreadTransitionRequested.model_validate(step))
        step = {"participant_id": app.person(), "to_state": "returning", "by": "grace", "reason": "refused"}
        await requests.ask(app.app, ParticipantStateRequested.model_validate(step))
        await app.wait(days=10)
        rows = await app.came_to_pass()
    assert {"began", "summary", "action", "outcome", "standing"} <= {row["what"] for row in rows}
    assert not any("Shared" in row["text"] for row in rows if row["what"] != "began")
    said = {row["text"] for row in rows if row["what"] in ("outcome", "standing")}
    assert said.isdisjoint({"«Plan» became closed", "became returning"}), "what was refused did not come to pass"


def test_an_event_of_a_period_is_readable_without_its_sentences() -> None:
    """Retention of what was learned leaves the frame of the event."""
    golden = Path(__file__).parents[2] / "schemas" / "examples" / "period.condensed.v1.json"
    event = PeriodCondensed.model_validate(json.loads(golden.read_text(encoding="utf-8"))["data"])
    assert event.sentences
    assert event.without_learned().sentences == ()
    assert event.without_learned().rows == event.rows
