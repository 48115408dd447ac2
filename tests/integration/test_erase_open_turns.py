"""An erase meets work under way: what waits, what is tried for days, what is being written or sent at that moment."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from deploy.local import Endpoints
from schemas.events.answers import AssignmentRequested, ReplyRequested
from schemas.events.base import EventData
from schemas.events.lifecycle import ParticipantStateRequested
from schemas.events.replies import DraftDecided, SentFile
from schemas.events.threads import TimerElapsed
from services.core.app import App
from services.core.bus.envelope import Envelope, first
from services.core.bus.event_row import EventRow
from services.core.bus.runner import Runner, enter
from services.core.clock import random_id, utc_now
from services.core.db import fetch_all
from services.core.keys import Erased
from services.demo.clock import SteppingClock
from services.keep_time.keeper import KEEP_TIME
from services.load_memory import PROCESSOR as LOAD_MEMORY
from services.model.port import Answer, Request
from services.operations.drafts.decisions import NewFile, keep_files
from services.operations.erase.proof import prove
from services.operations.erase.run import erase
from services.operations.idle import until_idle
from services.pipeline import RECEIVE_EMAIL
from services.receive_email.accept import accept
from services.send_email import PROCESSOR as SEND_EMAIL
from tests.benchmarks.stage import InstantModel
from tests.support.app import INBOX, settings_for
from tests.support.brokerless import WITHOUT_WEB, running_brokerless, working_brokerless
from tests.support.bus import until_true
from tests.support.dead_letters import all_dead_letters
from tests.support.erasing import differences, found
from tests.support.letters import letter
from tests.support.remembered_people import ADA, BOB, NAMES
from tests.support.smtp_server import DROP, Session, SmtpServer, Step

pytestmark = [pytest.mark.slow, pytest.mark.timeout(400)]
TURNS = """SELECT t.state, u.outcome, u.reason FROM threads t LEFT JOIN turns u ON u.thread_id = t.thread_id
           AND u.outcome IS DISTINCT FROM 'superseded'
           ORDER BY u.opened_at"""


@dataclass
class SlowModel(InstantModel):
    """Answers at once, unless it is told to wait; `asked` is set when it waits."""

    go: asyncio.Event = field(default_factory=asyncio.Event)
    asked: asyncio.Event = field(default_factory=asyncio.Event)

    async def ask(self, request: Request) -> Answer:
        """Wait for `go`."""
        if not self.go.is_set():
            self.asked.set()
            await self.go.wait()
        return await super().ask(request)


@dataclass
class Desk:
    """The deployment, its clock, its model, and the server that takes its mail."""

    app: App
    clock: SteppingClock
    model: SlowModel
    server: SmtpServer

    async def both_write(self, wait: bool = True) -> None:
        """Ada writes twice: alone, and in a thread in which Bob answers."""
        await self.write(ADA, "What does the Team plan cost?", "<a1@x.example>", wait=wait)
        await self.write(ADA, "Is the export slow?", "<a2@x.example>", cc=BOB, wait=wait)
        await self.write(BOB, "I see it too.", "<b1@x.example>", answers="<a2@x.example>", cc=ADA, wait=wait)

    async def write(
        self, who: str, text: str, message_id: str, *, answers: str = "", cc: str = "", wait: bool = True
    ) -> None:
        headers = {"Cc": f"{NAMES[cc]} <{cc}>"} if cc else {}
        sender = f"{NAMES[who]} <{who}>"
        raw = letter(text, sender=sender, message_id=message_id, in_reply_to=answers, subject="Help", **headers)
        await accept(self.app, self.app.settings.inboxes[0], raw, source="file", source_key=message_id)
        if wait:
            await until_idle(self.app, timeout_s=120)

    async def rows(self, query: str) -> list[dict[str, Any]]:
        async with self.app.database.reading() as conn:
            return await fetch_all(conn, query)  # type: ignore[arg-type]

    async def has(self, query: str) -> bool:
        return bool(await self.rows(query))

    async def erase_ada(self, stack: Endpoints) -> None:
        """Erase, and see that the deployment is at rest, that nothing of her is left, and that the tables are a fold."""
        ada = await found(self.app, ADA)
        await erase(self.app, ada, by="the test")
        self.model.go.set()
        await until_idle(self.app, timeout_s=120)
        assert (await prove(self.app, ada.marks)).findings == ()
        assert await differences(self.app, stack) == set()
        assert await all_dead_letters(self.app) == []


async def desk_in(
    stack: Endpoints, database: str, prefix: str, home: Path, names: tuple[str, ...] = WITHOUT_WEB, **changes: Any
) -> AsyncIterator[Desk]:
    clock, model = SteppingClock(utc_now()), SlowModel()
    model.go.set()
    async with SmtpServer() as server:
        smtp = {"host": "127.0.0.1", "port": server.port}
        settings = settings_for(stack, database, prefix, home, smtp=smtp, **changes)
        async with running_brokerless(settings, names, model=model, now=clock) as app:
            await app.cache.drop_all()  # what other tests' deployments have kept of their Adas
            yield Desk(app, clock, model, server)


@pytest.fixture
async def desk(stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path) -> AsyncIterator[Desk]:
    async for one in desk_in(stack, database, topic_prefix, tmp_path):
        yield one


@pytest.fixture
async def reviewing(stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path) -> AsyncIterator[Desk]:
    async for one in desk_in(stack, database, topic_prefix, tmp_path, send={"approval": "review"}):
        yield one


async def test_a_draft_that_waits_for_approval_goes_with_the_person_and_others_get_a_human(
    reviewing: Desk, stack: Endpoints
) -> None:
    """Ada's own thread is gone, the shared one's open turn has failed and is escalated, and an approval sends nothing."""
    await reviewing.both_write()
    drafts = await reviewing.rows("SELECT reply_id, thread_id FROM deliveries WHERE state IN ('draft', 'discarded')")
    assert len(drafts) == 3, "one of Ada's alone, one that Bob's mail has superseded, and one for Bob"
    await reviewing.erase_ada(stack)
    [left] = await reviewing.rows(TURNS)
    assert (left["state"], left["outcome"]) == ("escalated", "failed")
    assert "was erased" in left["reason"]
    assert len(await reviewing.rows("SELECT thread_id FROM threads")) == 1
    assert await reviewing.rows("SELECT reply_id FROM deliveries WHERE state = 'draft'") == []
    for draft in drafts:
        with suppress(Erased):  # of the thread that was hers alone
            await _approve(reviewing.app, draft)
    await until_idle(reviewing.app, timeout_s=120)
    assert reviewing.server.accepted == []


async def _approve(app: App, draft: dict[str, Any]) -> None:
    saw = hashlib.sha256(b"Hello, here is your answer.").hexdigest()
    said = DraftDecided(**draft, approve=True, text_sha256=saw, text="", by="a tester")
    await _say(app, said)


async def test_a_word_on_a_thread_of_the_erased_was_kept_under_a_new_key(reviewing: Desk, stack: Endpoints) -> None:
    """Who decides on what they read before the erase is told so, while it runs and after; nothing of it is stored."""
    await reviewing.both_write()
    [alone] = await reviewing.rows(
        "SELECT reply_id, thread_id FROM deliveries"
        " WHERE thread_id = (SELECT thread_id FROM mails WHERE message_id = 'a1@x.example')"
    )
    ada = await found(reviewing.app, ADA)
    [person] = ada.people
    words = (
        DraftDecided(**alone, approve=True, text_sha256="0", text=f"Dear {ADA}", by="a tester"),
        AssignmentRequested(thread_id=alone["thread_id"], assignee="", reason=f"{ADA} called", by="a tester"),
        ParticipantStateRequested(participant_id=person, to_state="vip", reason=f"{ADA} called", by="a tester"),
    )
    erasing = asyncio.create_task(erase(reviewing.app, ada, by="the test"))
    while not erasing.done():
        for word in words:
            with suppress(Erased):
                await _say(reviewing.app, word)
    await erasing
    refused = 0
    for word in words:
        try:
            await _say(reviewing.app, word)
        except Erased:
            refused += 1
    await until_idle(reviewing.app, timeout_s=120)
    assert (await prove(reviewing.app, ada.marks, ada.people)).findings == ()
    assert refused == len(words)


async def _say(app: App, word: EventData) -> None:
    await enter(app, first(word, id=random_id(), source="console", time=app.now(), workspace=app.settings.workspace))


async def test_a_file_for_a_thread_of_the_erased_was_kept_under_a_new_key(reviewing: Desk, stack: Endpoints) -> None:
    """Who attaches one to what they read before the erase is told so; neither a key nor a blob is made for it."""
    await reviewing.write(ADA, "What does the Team plan cost?", "<a1@x.example>")
    [alone] = await reviewing.rows("SELECT reply_id, thread_id FROM deliveries")
    await reviewing.erase_ada(stack)
    keys = await reviewing.rows("SELECT key_id FROM subject_keys ORDER BY key_id")
    blobs = [name async for name, _ in reviewing.app.blobs.lying()]
    word = DraftDecided(**alone, approve=True, text_sha256="0", text="See the file.", by="a tester")
    with pytest.raises(Erased):
        await keep_files(reviewing.app, word, [NewFile("offer.pdf", f"for {ADA}".encode())])
    assert await reviewing.rows("SELECT key_id FROM subject_keys ORDER BY key_id") == keys
    assert [name async for name, _ in reviewing.app.blobs.lying()] == blobs


async def test_a_persons_own_reply_that_is_held_is_not_sent_after_the_erase(reviewing: Desk, stack: Endpoints) -> None:
    """Neither its words nor the name of its file are read from any event again, and a rebuild gives the live tables."""
    await reviewing.both_write()
    [row] = await reviewing.rows(
        "SELECT t.thread_id, a.version FROM threads t JOIN aggregates a ON a.kind = 'thread' AND a.id = t.thread_id"
        " WHERE EXISTS (SELECT FROM mails m WHERE m.thread_id = t.thread_id AND m.author_addr = 'bob@x.example')"
        " OR t.thread_id = (SELECT thread_id FROM mails WHERE message_id = 'b1@x.example')"
    )
    file = SentFile(
        filename="zebra.pdf", content_type="application/pdf", size=1, blob=await reviewing.app.blobs.put(b"x", None)
    )
    said = ReplyRequested(
        reply_id=random_id(), thread_id=row["thread_id"], thread_version=row["version"], text="About the zebra.",
        cc=("zebra@x.example",), files=(file,), hold_s=600, by="grace",
    )  # fmt: skip
    asked = first(said, id=random_id(), source="console", time=reviewing.app.now(), workspace="main")
    await enter(reviewing.app, replace(asked, workspace=reviewing.app.settings.workspace))
    await until_idle(reviewing.app, timeout_s=120)
    assert len(await reviewing.rows("SELECT 1 FROM deliveries WHERE state = 'approved' AND retry_at IS NOT NULL")) == 1
    await reviewing.erase_ada(stack)
    reviewing.clock.forward(reviewing.clock() + timedelta(hours=1))
    await until_idle(reviewing.app, timeout_s=120)
    assert reviewing.server.accepted == []
    assert [one["id"] for one in await reviewing.rows("SELECT * FROM events") if "zebra" in str(one["data"])] == []
    assert await differences(reviewing.app, stack) == set()


async def test_a_reply_that_is_tried_for_days_is_not_sent_after_the_erase(desk: Desk, stack: Endpoints) -> None:
    """The server takes mail again a day later: nothing goes to Ada, and nothing that was written with her words to Bob."""
    desk.server.script = lambda session, step: "451 not now" if step == "rcpt" else None
    await desk.both_write()
    assert len(await desk.rows("SELECT 1 FROM deliveries WHERE state = 'approved' AND retry_at IS NOT NULL")) == 3
    await desk.erase_ada(stack)
    desk.server.script = lambda session, step: None
    desk.clock.forward(desk.clock() + timedelta(days=1))
    await until_idle(desk.app, timeout_s=120)
    assert desk.server.accepted == []
    [left] = await desk.rows(TURNS)
    assert (left["state"], left["outcome"]) == ("escalated", "failed")
    assert await differences(desk.app, stack) == set()


async def test_a_reply_that_is_being_written_during_the_erase_is_never_sent(desk: Desk, stack: Endpoints) -> None:
    """The model answers after the erase: its answer is passed over, and Bob, who waits, gets a human."""
    desk.model.go.clear()
    await desk.both_write(wait=False)
    await asyncio.wait_for(desk.model.asked.wait(), 60)
    await until_true(lambda: desk.has("SELECT 1 FROM conversation HAVING count(*) >= 3"))
    await desk.erase_ada(stack)
    assert [one.recipient for one in desk.server.accepted if one.recipient == ADA] == []
    [left] = await desk.rows(TURNS)
    assert (left["state"], left["outcome"]) == ("escalated", "failed")


async def test_a_turn_that_was_handled_after_the_erase_made_a_new_key_of_the_erased(
    desk: Desk, stack: Endpoints
) -> None:
    """Its event names ids alone and is not sealed: on a log that is behind it can still be read, and nothing comes of it."""
    await desk.write(ADA, "What does the Team plan cost?", "<a1@x.example>")
    [row] = await desk.rows("SELECT * FROM events WHERE type = 'turn.opened.v1'")
    opened = EventRow.of(**row).envelope()
    await desk.erase_ada(stack)
    async with desk.app.database.transaction() as conn:
        await conn.execute("DELETE FROM journal WHERE consumer = 'load_memory'")
    keys = await desk.rows("SELECT key_id FROM subject_keys ORDER BY key_id")
    await Runner(LOAD_MEMORY, desk.app).process(opened)
    assert await desk.rows("SELECT key_id FROM subject_keys ORDER BY key_id") == keys


async def test_a_reply_at_the_servers_door_during_the_erase_leaves_once_and_is_forgotten(
    desk: Desk, stack: Endpoints
) -> None:
    """What was handed over when the erase came is with the server; here nothing of it is left, and nothing is repeated."""
    at_the_door, open_door = asyncio.Event(), asyncio.Event()

    async def wait(session: Session, step: Step) -> str | None:
        if step == "dot":
            at_the_door.set()
            await open_door.wait()
        return None

    desk.server.script = wait
    await desk.write(ADA, "What does the Team plan cost?", "<a1@x.example>", wait=False)
    await asyncio.wait_for(at_the_door.wait(), 60)
    ada = await found(desk.app, ADA)
    await erase(desk.app, ada, by="the test")
    open_door.set()
    await until_idle(desk.app, timeout_s=120)
    assert [one.recipient for one in desk.server.accepted] == [ADA]
    assert (await prove(desk.app, ada.marks)).findings == ()
    assert await differences(desk.app, stack) == set()
    assert await all_dead_letters(desk.app) == []


HELD_EVENTS = {
    "a draft": "reply.drafted.v1",
    "a person's reply with a file": "thread.reply_accepted.v1",
    "an approved reply": "reply.approved.v1",
    "a sent reply": "reply.sent.v1",
    "a reply that was put off": "send_retry",
    "a copy that the Sent folder did not take": "sent_copy",
    "a reply of which nobody knows": "send_settle",
}
SAYS = {"send_retry": ("rcpt", "451 not now"), "send_settle": ("accepted", DROP)}


@pytest.mark.parametrize("held", HELD_EVENTS.values(), ids=HELD_EVENTS.keys())
async def test_what_send_email_had_read_before_an_erase_became_a_dead_letter(
    stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path, held: str
) -> None:
    """The blobs of the reply and of its files are gone when it comes to it: nothing leaves, and no new key is made."""
    nobody = {"host": "127.0.0.1", "port": 9, "username": "support", "password": "x", "timeout_s": 1}
    changes = {
        "inboxes": [{**INBOX, "vouched_by": "the test", "imap": nobody}],
        "send": {"approval": "review" if held == "thread.reply_accepted.v1" else "auto"},
    }
    names = tuple(name for name in WITHOUT_WEB if name not in ("send_email", RECEIVE_EMAIL, KEEP_TIME))
    async for desk in desk_in(stack, database, topic_prefix, tmp_path, names=names, **changes):
        await _lags(desk, stack, held)


async def _lags(desk: Desk, stack: Endpoints, held: str) -> None:
    step, says = SAYS.get(held, ("", None))
    desk.server.script = lambda _, at: says if at == step else None
    behind = Behind(desk)
    await desk.both_write(wait=False)
    await until_true(lambda: desk.has("SELECT 1 FROM conversation HAVING count(*) >= 3"))
    if held == "thread.reply_accepted.v1":
        await behind.a_person_answers()
    events = await behind.until(held)
    took, ada = len(desk.server.accepted), await found(desk.app, ADA)
    await erase(desk.app, ada, by="the test")
    keys = await desk.rows("SELECT key_id FROM subject_keys ORDER BY key_id")
    for one in events:
        await behind.sender.process(one)
    assert await desk.rows("SELECT key_id FROM subject_keys ORDER BY key_id") == keys
    async with working_brokerless(desk.app, ["send_email", KEEP_TIME]):
        for _ in range(10):
            desk.clock.forward(desk.clock() + timedelta(days=1))
            await until_idle(desk.app, timeout_s=120)
    assert len(desk.server.accepted) == took
    assert await all_dead_letters(desk.app) == []
    assert (await prove(desk.app, ada.marks, ada.people)).findings == ()
    assert await differences(desk.app, stack) == set()
    assert await desk.rows("SELECT state FROM deliveries WHERE state IN ('draft', 'approved', 'sending')") == []
    assert await desk.rows("SELECT reply_id FROM deliveries WHERE sent_copy = 'waiting'") == []


@dataclass
class Behind:
    """A send_email that has come to some of its events, and holds in memory what it has read of the next ones."""

    desk: Desk
    done: set[UUID] = field(default_factory=set)

    @property
    def sender(self) -> Runner:
        return Runner(SEND_EMAIL, self.desk.app)

    async def a_person_answers(self) -> None:
        """Grace, in each thread, with a file that is sealed with the key of those who wrote there."""
        app = self.desk.app
        for row in await self.desk.rows(
            "SELECT t.thread_id, a.version FROM threads t JOIN aggregates a ON a.kind = 'thread' AND a.id = t.thread_id"
        ):
            said = ReplyRequested(
                reply_id=random_id(),
                thread_id=row["thread_id"],
                thread_version=row["version"],
                text="Hello.",
                by="grace",
            )
            files = await keep_files(app, said, [NewFile("offer.pdf", f"for {ADA}".encode())])
            await _say(app, said.model_copy(update={"files": files}))

    async def until(self, held: str) -> list[Envelope]:
        """Work until there are events of a type, or a timer of a purpose, in two threads; they are given and not done."""
        async with asyncio.timeout(60):
            while True:
                waiting = await self._waiting()
                there = [one for one in waiting if held in (one.type, getattr(one.data, "purpose", ""))]
                if len({one.key for one in there}) == 2:
                    return there
                for one in waiting:
                    if one not in there:
                        await self.sender.process(one)
                        self.done.add(one.id)
                await asyncio.sleep(0.1)

    async def _waiting(self) -> list[Envelope]:
        rows = await self.desk.rows("SELECT * FROM events ORDER BY seq")
        events = [EventRow.of(**row).envelope() for row in rows if row["id"] not in self.done]
        timers = [TimerElapsed.model_validate(row["event"]) for row in await self.desk.rows("SELECT event FROM timers")]
        elapsed = [
            first(one, id=one.timer_id, source=KEEP_TIME, time=one.due_at, workspace=self.desk.app.settings.workspace)
            for one in timers
            if one.purpose in ("send_retry", "sent_copy", "send_settle")
        ]
        return [one for one in events if type(one.data) in SEND_EMAIL.handlers] + elapsed
