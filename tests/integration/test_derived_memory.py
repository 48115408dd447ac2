"""What is made of many mails, all of it at once: incidents, told periods, outreach, earned approval, investigations and
webhooks. Kills, order, erase."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from deploy.local import Endpoints
from schemas.events.investigations import InvestigationRequested
from schemas.events.memory import FactRequested
from schemas.events.replies import DraftDecided
from services.core.archive.history import stored_events
from services.core.bus.event_row import EventRow
from services.core.bus.processor import Processor
from services.core.bus.runner import Runner, publish
from services.core.clock import random_id
from services.core.db import fetch_all
from services.core.db.migrate import migrate
from services.core.ids import participant_id
from services.core.mailbox import MailboxKey
from services.operations import uses
from services.operations.drafts.listing import waiting_drafts
from services.operations.erase.proof import prove
from services.operations.erase.run import erase
from services.operations.incidents import change, list_incidents
from services.operations.outreach import ask_for_rounds, by_person
from services.operations.periods import ask as ask_for_periods
from services.operations.preparation import prepare
from services.operations.rebuild.projections import fold_events, state_hash
from services.operations.rebuild.shadow_schema import connected
from services.operations.requests import ask
from services.operations.webhooks.endpoints import Wanted, add_endpoint
from services.pipeline import PROCESSORS
from tests.benchmarks.derived_memory import DERIVING
from tests.integration.test_memory_periods import word_for_word
from tests.support.alert_receiver import receiving
from tests.support.bus import publishing
from tests.support.crashing_sender import DERIVED_POINTS, crash
from tests.support.erasing import differences, found
from tests.support.scripted_model import ScriptedModel, Seen, reply_tool, reply_tools
from tests.support.shuffling import doubled, each, interleaved
from tests.support.stack import fresh_database
from tests.support.tending import Tended, tending

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]
QUIET = 20  # seconds
BO, CY = MailboxKey("bo@two.example"), MailboxKey("cy@three.example")
SECRET = "quixotryzebra"  # a word that is Cy's alone
RENEWAL = {"name": "renewal", "text": "Hi {name}, it is {date} soon.", "fact": "renewal date", "within_days": 14, "silent_days": 30}  # fmt: skip
DERIVED = {
    "incidents", "trouble_reports", "memory_periods", "outreach", "unsubscribes", "approvals", "approval_outcomes",
    "approval_patterns", "investigations", "investigation_files", "webhook_deliveries", "embeddings",
}  # fmt: skip
LED_TO = """WITH RECURSIVE way AS (
    SELECT e.*, 0 AS step FROM events e WHERE seq = (SELECT max(seq) FROM events WHERE type = %(end)s)
    UNION ALL SELECT e.*, step + 1 FROM events e JOIN way w ON e.id = w.causation_id)
    SELECT type, source FROM way ORDER BY step"""
ON = {
    "incidents": {"customers": 3},
    "condense": {"enabled": True, "rows_from": 2},
    "reach_out": {"rules": [RENEWAL]},
    "recall": {"unused_days": 100},
    "approval": {"earn": True},
    "send": {"approval": "review"},
    "threads": {"quiet_s": QUIET},
    "investigate": {"enabled": True},
    "outgoing_webhooks": {"private_hosts": True, "timeout_s": 1},
}


def answer(request: Seen) -> Any:
    """As the model: every mail reports the same trouble, every period is told word for word."""
    if "tell" in request.tools:
        return word_for_word(request)
    if "finish" in request.tools:
        notes = {"command": "create", "path": "memory/scratchpad.md", "file_text": f"- {SECRET}\n"}
        return reply_tools(("memory", notes), ("finish", {"note": f"They speak of {SECRET}.", "facts": []}))
    if "reflect" in request.tools:
        secret = f" {SECRET}" if SECRET in request.text else ""
        signals = {"issue_key": "csv export times out", "intent": "bug_report"}
        return reply_tool("reflect", {"summary": f"Their export fails{secret}.", "brief": "", "signals": signals})
    return reply_tool("reply", {"text": "Hello,\n\nwe look into it.", "state": "awaiting_reply", "intent": "how_to"})


@dataclass
class Derived(Tended):
    """A deployment in which some processors may be away."""

    away: set[str] = field(default_factory=set)

    async def settle(self, processors: Iterable[Processor] = PROCESSORS) -> None:
        """By those who are there."""
        await Tended.settle(self, [one for one in processors if one.name not in self.away])

    async def report(self, sender: str, words: str = "") -> None:
        """A customer tells of the trouble, and a person approves what the agent drafted."""
        await self.write(f"Hello, the export is broken. {words}", sender=sender)
        await self.wait(seconds=QUIET)
        await self.approve()

    async def approve(self) -> None:
        """Every draft that waits."""
        async with self.app.database.reading() as conn:
            held = list(await waiting_drafts(conn, self.workspace))
        for one in held:
            word = {"reply_id": one.reply_id, "thread_id": one.thread_id, "text_sha256": one.text_sha256, "by": "grace"}
            await ask(self.app, DraftDecided.model_validate({**word, "approve": True}))
            await self.settle()

    async def renews(self, addr: str, on: str) -> None:
        """A colleague notes when somebody's plan renews."""
        person = participant_id(self.workspace, MailboxKey(addr))
        said = {"participant_id": person, "op": "add", "key": "renewal date", "value": on, "by": "grace"}
        await ask(self.app, FactRequested.model_validate({**said, "text": f"Their plan renews on {on}."}))
        await self.settle()

    async def count(self, table: str) -> int:
        """The rows of a table."""
        (row,) = await self.rows(f"SELECT count(*) AS n FROM {table}")
        return int(row["n"])


@pytest.fixture
async def app(stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path) -> AsyncIterator[Derived]:
    async with ScriptedModel() as server:
        server.script(answer)
        model = {"provider": "anthropic", "api_key": "k", "base_url": server.base_url}
        async with tending(stack, database, topic_prefix, tmp_path, model=model, **ON) as one:
            yield Derived(one.app, one.clock)


async def lived_through(app: Derived) -> None:
    """Three report a trouble that is closed; a month later one is written to, another wants no such mail; days are told."""
    await app.report("Ann <ann@one.example>")
    await app.report(f"Bo <{BO}>")
    await app.report(f"Cy <{CY}>", SECRET)
    (line,) = await list_incidents_of(app)
    async with app.at_work():
        await change(app.app, line, "close", answer="It works again.", reason="fixed", by="grace", timeout_s=60)
        await by_person(app.app, participant_id(app.workspace, BO), lifted=False, by="grace", timeout_s=60)
    await app.settle()
    await app.approve()
    await app.renews(CY, "2026-02-10")
    await app.report(f"Cy <{CY}>", "Is it over?")
    await app.wait(days=2)
    await ask_for_periods(app.app, asyncio.Event())
    await app.settle()
    await app.wait(days=30)
    await ask_for_rounds(app.app)
    await app.settle()
    await uses.count(app.app, asyncio.Event())
    await investigated(app)


async def investigated(app: Derived) -> None:
    """Somebody asks what is behind Cy's trouble."""
    (row, *_) = await app.rows("SELECT thread_id FROM mails WHERE author_addr = %(cy)s ORDER BY received_at", cy=CY)
    asked = {"investigation_id": random_id(), "participant_id": participant_id(app.workspace, CY), "by": "grace"}
    await ask(app.app, InvestigationRequested.model_validate({**asked, **row, "question": f"What is {SECRET}?"}))
    await app.settle()


async def on_the_log(app: Derived) -> None:
    """Every stored event is a record of its topic, as it is where there is a broker."""
    await prepare(app.app.settings)
    async with app.app.database.reading() as conn:
        events = [EventRow.of(**row).envelope() for row in await fetch_all(conn, "SELECT * FROM events ORDER BY seq")]
    async with publishing(app.app.settings.kafka.brokers) as publisher:
        await publish(replace(app.app, publisher=publisher), events)


async def list_incidents_of(app: Derived) -> list[Any]:
    """The incidents, by id."""
    async with app.app.database.reading() as conn:
        return [one.incident_id for one in await list_incidents(conn, app.app.settings)]


async def test_rows_follow_in_any_order_and_an_erased_customer_leaves_no_trace(
    app: Derived, stack: Endpoints, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every table has rows; a fold of the events, shuffled and doubled, gives the same; no store holds an erased word."""
    monkeypatch.setattr(uses, "UNSEEN_S", -60.0)
    async with receiving() as hook:
        await add_endpoint(app.app, Wanted(hook.url, (), "a test", with_text=True), by="grace")
        await lived_through(app)
        hook.answer, hook.content = "503 Service Unavailable", f"no room for {SECRET}".encode()
        await app.report(f"Cy <{CY}>", SECRET)
    await on_the_log(app)
    assert {table for table in {*DERIVED, "fact_uses"} if not await app.count(table)} == set()
    with fresh_database(stack.database) as url:
        migrate(url)
        async with app.app.database.reading() as conn, connected(url) as target:
            events, dice = [one async for one in stored_events(conn)], random.Random(7)
            assert await fold_events(each(doubled(interleaved(events, dice), dice)), target) == len(events)
            assert await state_hash(target) == await state_hash(conn)

    cy = await found(app.app, CY)
    assert SECRET in cy.marks.words
    held = {one.place for one in (await prove(app.app, cy.marks, cy.people)).findings}
    assert held >= {"table trouble_reports", "table memory_periods", "table outreach", "table fact_uses"}
    assert held >= {"table investigations", "table investigation_files", "table public.webhook_answers"}
    assert {one.partition(",")[0].split()[0] for one in held} >= {"table", "topic", "blob"}
    await erase(app.app, cy, by="grace")
    assert await app.count("embeddings") == 0, "vectors are made again of what is left"
    await app.settle()
    after = await prove(app.app, cy.marks, cy.people)
    assert after.findings == ()
    assert min(after.read[store] for store in ("tables", "topics", "blobs")) > 0
    assert await differences(app.app, stack) == set()
    assert await app.count("trouble_reports") == 2
    assert (await app.count("outreach"), await app.count("investigation_files")) == (0, 0)


async def test_no_reply_waits_for_any_of_them(app: Derived) -> None:
    """While they are away a reply is written, held and sent; while they are at work it takes the same units."""
    app.away = set(DERIVING)
    await app.report("Ann <ann@one.example>")
    without = await units_of_last_reply(app)
    app.away = set()
    await app.settle()
    await app.report(f"Bo <{BO}>")
    assert await units_of_last_reply(app) == without
    assert {"read_email", "track_threads", "load_memory", "generate_reply", "send_email"} <= {who for _, who in without}
    assert not DERIVING & {who for _, who in without}


async def units_of_last_reply(app: Derived) -> list[tuple[str, str]]:
    """What led from a mail to the draft that a person was shown, and from their word to its being sent; last first."""
    way: list[dict[str, Any]] = []
    for end in ("reply.sent.v1", "reply.held.v1"):
        way += await app.rows(LED_TO, end=end)
    return [(row["type"], row["source"]) for row in way]


async def test_killed_at_any_step_each_is_done_once(app: Derived) -> None:
    """Before the commit and behind it: whoever goes on opens one incident, proposes one draft, counts one approval."""
    app.away = {"watch_incidents", "reach_out", "earn_approval"}
    for sender in ("Ann <ann@one.example>", f"Bo <{BO}>", f"Cy <{CY}>"):
        await app.report(sender)
    await app.renews(CY, "2026-02-10")
    await app.wait(days=32)
    await ask_for_rounds(app.app)
    for name, point in DERIVED_POINTS.items():
        (processor,) = [one for one in PROCESSORS if one.name == point.processor]
        first = next(one for one in await app.waiting(processor) if one.type == point.of)
        await crash(app.app.settings, name, first.id)
    app.away = set()
    await app.settle()
    assert (await app.count("incidents"), await app.count("trouble_reports")) == (1, 3)
    assert await app.count("outreach") == 1
    (row,) = await app.rows("SELECT occurrences FROM approval_patterns WHERE type = 'unchanged'")
    assert row["occurrences"] == 3


async def test_what_any_processor_has_done_it_does_not_do_again(app: Derived) -> None:
    """Every event of the story comes to each of its consumers once more, the newest first: no event and no row follows."""
    await lived_through(app)
    async with app.app.database.reading() as conn:
        before = await state_hash(conn)
        events = [
            EventRow.of(**row).envelope() for row in await fetch_all(conn, "SELECT * FROM events ORDER BY seq DESC")
        ]
    seen: dict[str, int] = {}
    for processor in PROCESSORS:
        known = {kind.TYPE for kind in processor.handlers}
        for event in (one for one in events if one.type in known):
            await Runner(processor, app.app).process(event)
            seen[processor.name] = seen.get(processor.name, 0) + 1
    assert {one.name for one in PROCESSORS} == seen.keys(), "the story has events for each"
    async with app.app.database.reading() as conn:
        assert await state_hash(conn) == before
    assert await app.count("events") == len(events)


async def test_incidents_and_approvals_come_to_the_same_when_the_newest_event_is_first(app: Derived) -> None:
    """Of three reports and three approvals in the reverse order there are one incident and three counted outcomes."""
    app.away = {"watch_incidents", "earn_approval"}
    for sender in ("Ann <ann@one.example>", f"Bo <{BO}>", f"Cy <{CY}>"):
        await app.report(sender)
    for processor in (one for one in PROCESSORS if one.name in app.away):
        for event in reversed(await app.waiting(processor)):
            await Runner(processor, app.app).process(event)
    app.away = set()
    await app.settle()
    assert (await app.count("incidents"), await app.count("trouble_reports")) == (1, 3)
    (row,) = await app.rows("SELECT occurrences FROM approval_patterns WHERE type = 'unchanged'")
    assert row["occurrences"] == 3
