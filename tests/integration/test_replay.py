"""Replay: the demo's mailbox, handled again by today's code in a sandbox, differs in nothing that was not changed."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
import typer
from redis.asyncio import Redis
from typer.testing import CliRunner

from deploy.local import Endpoints
from schemas.events.threads import TurnOpened
from services.cli import replay as command
from services.core.app import open_keys
from services.core.db import Connection, fetch_all, fetch_one
from services.core.settings import Settings
from services.demo.world import make_world
from services.operations.idle import until_idle
from services.operations.rebuild.shadow_schema import connected
from services.operations.replay.case import Case, CaseUnreadable, load, save
from services.operations.replay.find import NoSuchEvent
from services.operations.replay.log import LogOfAnotherCall
from services.operations.replay.model import OFFLINE, Asking
from services.operations.replay.result import Result
from services.operations.replay.run import past_cases, replay, saved_cases
from services.operations.replay.selection import STARTS, NotReplayable, Selection
from services.receive_email.accept import accept
from tests.support.app import settings_for
from tests.support.brokerless import running_brokerless
from tests.support.letters import letter
from tests.support.lived_in import play_world
from tests.support.scripted_model import ScriptedModel, Seen, reply_tool
from tests.support.stack import fresh_database

RECORDINGS = Asking()
MAY = datetime(2025, 5, 1, tzinfo=UTC)
pytestmark = [pytest.mark.slow, pytest.mark.timeout(400)]


@pytest.fixture(scope="module")
async def lived_in(
    stack: Endpoints, template_database: str, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Settings]:
    """A deployment after the demo's world, in which nothing happened but its mail."""
    with fresh_database(stack.database, template=template_database) as url:
        yield await play_world(stack, url, tmp_path_factory.mktemp("home"), eventful=False)


@pytest.fixture
async def live(lived_in: Settings) -> AsyncIterator[Connection]:
    """A connection to its database."""
    async with open_keys(lived_in) as keys, connected(lived_in.database_url, keys) as conn:
        yield conn


@pytest.mark.parametrize("processor", STARTS)
async def test_what_happened_happens_again(lived_in: Settings, processor: str) -> None:
    """With recordings, every processor records for every mail of the mailbox what it recorded then."""
    results = await _all(lived_in, Selection(until=processor))
    assert len(results) > 10
    assert [one.model_dump() for one in results if one.code] == []


@pytest.mark.parametrize(
    ("topic", "until", "count"),
    [
        ("inbound-email.raw", "generate_reply", 4),
        ("inbound-email", "generate_reply", 3),
        ("inbound-email", "track_threads", 1),
        ("turns", "generate_reply", 2),
        ("turns", "summarize_threads", 2),
        ("turn-reflected", "learn_facts", 1),
    ],
)
async def test_a_month_from_a_topic_on_happens_again(lived_in: Settings, topic: str, until: str, count: int) -> None:
    """From any topic of the flow on, every processor on the way records what it recorded then, in the mail of a month."""
    wanted = Selection(until, topic=topic, since=MAY, before=MAY + timedelta(days=31))
    assert len(wanted.processors) == count
    results = await _all(lived_in, wanted)
    assert len(results) > 3
    assert [one.model_dump() for one in results if one.code] == []


@pytest.mark.parametrize(
    ("answers", "pause_s"),
    [("<0@quiet.example>", 0), ("<0@quiet.example>", 1.1), ("", 0.6)],
    ids=["at once", "while the turn is at work", "in another thread"],
)
async def test_two_mails_in_a_quiet_period_are_replayed_with_the_timers_that_came(
    stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path, answers: str, pause_s: float
) -> None:
    """Two mails of one person, whenever the second one comes: both are handled as they were then, timers included."""
    settings = settings_for(stack, database, topic_prefix, tmp_path, threads={"quiet_s": 1})
    async with running_brokerless(settings) as app:
        for number, text in enumerate(("What does the Team plan cost?", "For ten people, I mean.")):
            raw = letter(text, message_id=f"<{number}@quiet.example>", in_reply_to=answers if number else "")
            await accept(app, app.settings.inboxes[0], raw, source="file", source_key=str(number))
            await asyncio.sleep(0 if number else pause_s)
        await until_idle(app)
    results = await _pairs(settings, Selection(topic="inbound-email.raw"))
    assert [result.model_dump() for _, result in results if result.code] == []
    opened = [event.type for case, _ in results for event in case.expected if event.type == TurnOpened.TYPE]
    assert 1 <= len(opened) <= sum(len(case.timers) for case, _ in results)


async def test_a_context_loaded_anew_leads_to_the_same_reply(lived_in: Settings) -> None:
    """The memory as of each turn, folded from the events, gives the same context and the same draft."""
    results = await _all(lived_in, Selection(rebuild_context=True))
    assert len(results) > 10
    assert [one.model_dump() for one in results if one.code] == []


async def test_the_model_asked_anew_reads_the_same(lived_in: Settings) -> None:
    """The offline model is deterministic: asked again, tools and all, it writes what it wrote."""
    results = await _all(lived_in, Selection(), Asking(OFFLINE))
    assert [one.model_dump() for one in results if one.code] == []


async def test_a_replay_leaves_everything_as_it_was(lived_in: Settings, live: Connection, stack: Endpoints) -> None:
    """No row of any table, no cache key without the sandbox's prefix, no blob, no mail, and no schema stays behind."""
    before = await _everything(live, lived_in, stack)
    await _all(lived_in, Selection(until="learn_facts"))
    await _all(lived_in, Selection(rebuild_context=True), Asking(OFFLINE))
    assert await _everything(live, lived_in, stack) == before


async def test_another_prompt_gives_a_readable_difference(lived_in: Settings) -> None:
    """The model is given the other instructions, and its new words stand beside the old ones."""

    def script(seen: Seen) -> Any:
        assert "BE A PIRATE" in seen.system
        return reply_tool("reply", {"text": "Arr, matey!", "state": "resolved"})

    async with ScriptedModel() as server:
        server.script(script)
        model = lived_in.model.model_copy(update={"provider": "anthropic", "base_url": server.base_url})
        settings = lived_in.model_copy(update={"model": model})
        asking = Asking("claude-other", "BE A PIRATE")
        results = await _all(settings, Selection(event=await _one_start(lived_in)), asking)
        (result,) = results
        assert server.requests[0].body["model"] == "claude-other"
    assert result.code == 1
    found = {one.field: one for one in result.differences}
    assert found["text"].after == "Arr, matey!"
    assert found["text"].before
    assert found["state"].after == "resolved"
    assert not found["usage"].counts


async def test_an_answer_that_is_not_recorded_is_an_error_and_no_question(lived_in: Settings) -> None:
    """A replay from recordings asks nobody."""
    wanted = Selection(event=await _one_start(lived_in))
    (case,) = [case async for case, _ in past_cases(lived_in, wanted, documents=False)]
    (result,) = await _results(lived_in, _one(case.model_copy(update={"answers": ()})))
    assert result.code == 2
    assert "AnswerNeverRecorded" in result.error


async def test_a_case_is_named_by_thread_by_person_and_by_any_event_of_its_mail(
    lived_in: Settings, live: Connection
) -> None:
    """The same turn is found by its thread, by its author, and by the event that began it all."""
    row = await fetch_one(live, "SELECT * FROM events WHERE type = 'memory.loaded.v1' ORDER BY seq LIMIT 1")
    assert row is not None
    for wanted in (
        Selection(event=row["id"]),
        Selection(event=row["correlation_id"]),
        Selection(thread=UUID(row["data"]["thread_id"])),
        Selection(participant=row["data_subject"]),
        Selection(since=row["time"]),
    ):
        cases = [case async for case, _ in past_cases(lived_in, wanted, documents=False)]
        assert row["id"] in {case.start.id for case in cases}, wanted
    none = [case async for case, _ in past_cases(lived_in, Selection(before=row["time"]), documents=False)]
    assert row["id"] not in {case.start.id for case in none}


async def test_what_cannot_be_replayed_is_said(lived_in: Settings) -> None:
    """send_email, an unknown processor and an unknown event are refused in words."""
    with pytest.raises(NotReplayable, match="sends no mail"):
        Selection(until="send_email")
    with pytest.raises(NotReplayable, match="generate_reply"):
        Selection(until="nonsense")
    with pytest.raises(NotReplayable, match="there are: deliveries, inbound-email, "):
        Selection(topic="document-events")
    with pytest.raises(NoSuchEvent):
        await _all(lived_in, Selection(event=UUID(int=1)))


async def test_saved_cases_need_no_history_of_the_deployment(
    lived_in: Settings, stack: Endpoints, database: str, tmp_path: Path
) -> None:
    """A folder of cases is replayed in a deployment that never saw those mails; a changed expectation is found."""
    async for case, _ in past_cases(lived_in, Selection(), documents=True):
        save(case, tmp_path / "cases")
    empty = lived_in.model_copy(update={"database_url": database})
    files = sorted((tmp_path / "cases").iterdir())
    assert [one.code for one in await _results(empty, saved_cases(files))] == [0] * len(files)
    assert [one.code for one in await _results(empty, saved_cases(files[:3]), Asking(OFFLINE))] == [0] * 3
    case = load(files[0])
    drafted = case.expected[-1]
    told = drafted.model_copy(update={"data": {**drafted.data, "text": "We said something else."}})
    save(case.model_copy(update={"expected": (told,)}), tmp_path / "other")
    (result,) = await _results(empty, saved_cases(list((tmp_path / "other").iterdir())))
    assert [one.field for one in result.differences] == ["text"]


async def test_a_saved_case_that_begins_with_a_raw_mail_holds_the_mail(
    lived_in: Settings, database: str, tmp_path: Path
) -> None:
    """Read, threaded and answered again in a deployment of its own, without the blobs, the keys and the tables of the other."""
    wanted = Selection(topic="inbound-email.raw", since=MAY, before=MAY + timedelta(days=31))
    async for case, _, _ in replay(lived_in, past_cases(lived_in, wanted, documents=True), RECORDINGS):
        save(case, tmp_path / "cases")
    files = sorted((tmp_path / "cases").iterdir())
    assert len(files) > 3
    elsewhere = lived_in.model_copy(update={"database_url": database, "home": tmp_path / "elsewhere"})
    results = await _results(elsewhere, saved_cases(files))
    assert [one.model_dump() for one in results if one.code] == []
    bare = load(files[0]).model_copy(update={"blobs": {}})
    (result,) = await _results(elsewhere, _one(bare))
    assert result.code == 2


def test_a_file_that_is_no_case_is_refused(tmp_path: Path) -> None:
    """Garbage among the cases is an error with the file's name."""
    path = tmp_path / "x.json"
    path.write_text("{}")
    with pytest.raises(CaseUnreadable, match=r"x\.json"):
        load(path)


def test_the_command_saves_checks_and_goes_on(
    lived_in: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Exit code 0 without a difference, 1 with one, 2 on an error; a log that was cut short is gone on with."""
    monkeypatch.setattr("services.operations.deployment.settings_here", lambda home: lived_in)
    web_app = typer.Typer(pretty_exceptions_enable=False)
    web_app.command()(command.replay_past)
    cases, log = tmp_path / "cases", tmp_path / "log.jsonl"
    saved = CliRunner().invoke(web_app, ["--save", str(cases), "--log", str(log)])
    assert saved.exit_code == 0, saved.output
    count = len(list(cases.iterdir()))
    lines = log.read_text().splitlines(keepends=True)
    assert len(lines) == 1 + count
    log.write_text("".join(lines[:-3]) + lines[-1][:20])
    resumed = CliRunner().invoke(web_app, ["--log", str(log)])
    assert resumed.exit_code == 0, resumed.output
    assert f"{count - 3} of them were in the log already" in " ".join(resumed.output.split())
    assert log.read_text().splitlines(keepends=True) == lines
    for other in (["--model", "offline"], ["--rebuild-context"], ["--check", str(cases)]):
        refused = CliRunner().invoke(web_app, ["--log", str(log), *other])
        assert isinstance(refused.exception, LogOfAnotherCall), other
    changed = load(next(iter(sorted(cases.iterdir()))))
    shutil.rmtree(cases)
    drafted = changed.expected[-1]
    save(changed.model_copy(update={"expected": (replace_text(drafted),)}), cases)
    different = CliRunner().invoke(web_app, ["--check", str(cases)])
    assert different.exit_code == 1, different.output
    assert "Something else entirely." in different.output
    save(changed.model_copy(update={"answers": ()}), cases)
    assert CliRunner().invoke(web_app, ["--check", str(cases)]).exit_code == 2
    nothing = CliRunner().invoke(web_app, ["--from", "2100-01-01"])
    assert isinstance(nothing.exception, command.NothingToReplay), "a check of nothing must not pass"
    _named_as_people_do(web_app, drafted.data["thread_id"])


def _named_as_people_do(web_app: typer.Typer, thread: str) -> None:
    """A thread by the beginning of its id, as lists show it; a person by address; who is unknown, in words."""
    short, whole = (CliRunner().invoke(web_app, ["--thread", one]) for one in (thread[:8], thread))
    assert short.exit_code == 0
    assert short.output.splitlines()[-1] == whole.output.splitlines()[-1]
    john = make_world(11).people[0]
    assert CliRunner().invoke(web_app, ["--participant", john.address]).exit_code == 0
    unknown = CliRunner().invoke(web_app, ["--participant", "nobody@nowhere.example"])
    assert "nobody is known as 'nobody@nowhere.example'" in str(unknown.exception)
    assert "there is no thread 00000000" in str(CliRunner().invoke(web_app, ["--thread", "00000000"]).exception)


def replace_text(drafted: Any) -> Any:
    """The event with another text of the reply."""
    return drafted.model_copy(update={"data": {**drafted.data, "text": "Something else entirely."}})


async def _all(settings: Settings, wanted: Selection, asking: Asking = RECORDINGS) -> list[Result]:
    return await _results(settings, past_cases(settings, wanted, documents=not asking.recorded), asking)


async def _pairs(settings: Settings, wanted: Selection) -> list[tuple[Case, Result]]:
    cases = past_cases(settings, wanted, documents=False)
    return [(case, result) async for case, result, _ in replay(settings, cases, RECORDINGS)]


async def _results(settings: Settings, cases: Any, asking: Asking = RECORDINGS) -> list[Result]:
    return [result async for _, result, _ in replay(settings, cases, asking)]


async def _one(case: Any) -> AsyncIterator[tuple[Any, int]]:
    yield case, 1


async def _one_start(settings: Settings) -> UUID:
    query = """SELECT e.id FROM events e JOIN events d ON d.causation_id = e.id
               WHERE e.type = 'memory.loaded.v1' AND d.data ->> 'decision' = 'reply' ORDER BY e.seq LIMIT 1"""
    async with open_keys(settings) as keys, connected(settings.database_url, keys) as conn:
        row = await fetch_one(conn, query)
    assert row is not None
    found: UUID = row["id"]
    return found


async def _everything(conn: Connection, settings: Settings, stack: Endpoints) -> dict[str, Any]:
    tables = await fetch_all(
        conn,
        "SELECT relname AS name FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') ORDER BY 1",
    )
    state: dict[str, Any] = {}
    for table in tables:
        query = f"SELECT count(*) AS n, md5(coalesce(string_agg(t::text, '' ORDER BY t::text), '')) AS hash FROM {table['name']} t"
        state[table["name"]] = await fetch_one(conn, query)
    schemas = await fetch_all(conn, "SELECT nspname FROM pg_namespace WHERE nspname LIKE 'replay%'")
    redis = Redis.from_url(stack.redis, decode_responses=True)
    keys = {key async for key in redis.scan_iter("*") if not key.startswith("replay_")}
    await redis.aclose()
    blobs = sorted(path.name for path in (settings.home / "blobs").rglob("*") if path.is_file())
    return {**state, "schemas": schemas, "keys": keys, "blobs": blobs}
