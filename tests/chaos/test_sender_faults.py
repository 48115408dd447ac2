"""Faults of the sender that were found and mended, each named after the failure."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from uuid import UUID

import pytest

from deploy.local import Endpoints
from schemas.events.replies import ReplyApproved
from services.core.app import App, open_app
from services.core.bus.codec import encode
from services.core.bus.delivery import Delivery
from services.core.bus.envelope import Envelope
from services.core.bus.event_row import EventRow
from services.core.bus.runner import Runner
from services.core.clock import utc_now
from services.core.db import fetch_all, fetch_one
from services.core.db.locks import HeldElsewhere
from services.operations.idle import until_idle
from services.operations.preparation import prepare
from services.pipeline import NAMES
from services.process import working
from services.send_email import PROCESSOR
from tests.chaos.traffic import deliver, make_mails
from tests.support.app import running_app, settings_for
from tests.support.bus import PATIENCE_S
from tests.support.smtp_server import Session, SmtpServer, Step

APPROVED = "SELECT * FROM events WHERE type = 'reply.approved.v1' ORDER BY seq LIMIT 1"


class Meet:
    """A script that lets nobody past RCPT before two sessions are there."""

    def __init__(self) -> None:
        self._there = 0
        self._both = asyncio.Event()

    async def __call__(self, session: Session, step: Step) -> None:
        if step == "rcpt":
            self._there += 1
            if self._there == 2:
                self._both.set()
            await self._both.wait()


async def test_two_senders_that_had_both_lost_their_locks_both_reached_data(
    stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path
) -> None:
    """Of two senders that stand at DATA with the same reply only the first may go on, locks or no locks."""
    async with SmtpServer() as server, _approved(stack, database, topic_prefix, tmp_path, server) as (app, event):
        server.script = Meet()
        rivals = [asyncio.create_task(_without_locks(app, event)) for _ in range(2)]
        ended = await asyncio.gather(*rivals, return_exceptions=True)
        async with app.database.reading() as conn:
            sending = await fetch_all(conn, "SELECT version FROM events WHERE type = 'reply.sending.v1'")
    assert sorted(type(one).__name__ for one in ended) == sorted(["NoneType", HeldElsewhere.__name__])
    assert list(server.copies().values()) == [1]
    assert len(sending) == 1


@pytest.mark.parametrize(("state", "becomes"), [("approved", "failed"), ("sending", "unknown")])
async def test_a_reply_that_was_given_up_stayed_approved_for_ever(
    stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path, state: str, becomes: str
) -> None:
    """Giving up an attempt ends the reply in the ledger: failed before its intent, unknown after; a human is called."""
    async with SmtpServer() as server, _approved(stack, database, topic_prefix, tmp_path, server) as (app, event):
        async with app.database.reading() as conn:
            await conn.execute("UPDATE deliveries SET state = %(state)s", {"state": state})
        record = encode(event, topic_prefix=topic_prefix)
        lost = Delivery(record.topic, 0, 0, record.key, record.value, record.headers)
        await Runner(PROCESSOR, app).give_up(lost, TimeoutError("the disk is full"), 3)
        async with working(app, ["track_threads"]):
            await _until_closed(app, event.data)
        async with app.database.reading() as conn:
            row = await fetch_one(conn, "SELECT state, detail FROM deliveries")
            thread = await fetch_one(conn, "SELECT state FROM threads")
    assert row is not None
    assert thread is not None
    assert row["state"] == becomes
    assert "the disk is full" in row["detail"]
    assert thread["state"] == "escalated"
    assert server.accepted == []


async def test_a_clock_set_back_had_every_later_reply_of_a_thread_discarded(
    stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path
) -> None:
    """A mail that was answered is no newer mail, whatever the clock says: the next one is answered in one turn."""
    offset = timedelta()
    async with SmtpServer() as server:
        smtp = {"host": "127.0.0.1", "port": server.port}
        settings = settings_for(stack, database, topic_prefix, tmp_path, smtp=smtp)
        async with running_app(settings, now=lambda: utc_now() + offset) as app:
            first, second = make_mails(9, 2, 1)
            await deliver(app, [first])
            await until_idle(app)
            offset = timedelta(minutes=-10)
            await deliver(app, [second])
            await until_idle(app)
            async with app.database.reading() as conn:
                turns = await fetch_all(conn, "SELECT outcome FROM turns")
    assert [row["outcome"] for row in turns] == ["sent", "sent"]
    assert len(server.accepted) == 2


@asynccontextmanager
async def _approved(
    stack: Endpoints, database: str, topic_prefix: str, home: Path, server: SmtpServer
) -> AsyncIterator[tuple[App, Envelope]]:
    """A deployment whose one reply is approved and waits for a sender that does not run."""
    smtp = {"host": "127.0.0.1", "port": server.port, "timeout_s": 10}
    settings = settings_for(stack, database, topic_prefix, home, smtp=smtp)
    await prepare(settings)
    async with open_app(settings) as app:
        runner = Runner(PROCESSOR, app)
        async with working(app, [name for name in NAMES if name != "send_email"]):
            await deliver(app, make_mails(1, 1, 1))
            await runner.process(await _stored(app, "SELECT * FROM events WHERE type = 'reply.drafted.v1'"))
        yield app, await _stored(app, APPROVED)


async def _stored(app: App, query: str) -> Envelope:
    async with asyncio.timeout(PATIENCE_S):
        while True:
            async with app.database.reading() as conn:
                row = await fetch_one(conn, query)
            if row is not None:
                return EventRow.of(**row).envelope()
            await asyncio.sleep(0.05)


async def _without_locks(app: App, event: Envelope) -> None:
    """Do the event as another process would whose lock was lost with its connection."""
    async with open_app(app.settings) as other:
        await other.locks.close()
        object.__setattr__(other, "locks", _NoLocks())
        await Runner(PROCESSOR, other).process(event)


class _NoLocks:
    @asynccontextmanager
    async def hold(self, id: UUID) -> AsyncIterator[None]:
        yield

    async def close(self) -> None:
        return None


async def _until_closed(app: App, reply: object) -> None:
    assert isinstance(reply, ReplyApproved)
    async with asyncio.timeout(PATIENCE_S):
        while True:
            async with app.database.reading() as conn:
                if await fetch_one(conn, "SELECT 1 FROM turns WHERE outcome = 'failed'"):
                    return
            await asyncio.sleep(0.05)
