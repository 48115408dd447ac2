"""A deployment measured from outside: processes as a company runs them, a model over HTTP, and the mail server's clock.

The benchmark's own process posts mails and keeps the clock; it runs no processor, and nothing of it asks the deployment's
processes anything while they work. `CORRESPONDENT_TEST_KAFKA=apache` puts Apache Kafka in the embedded broker's place.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import psutil

from deploy.local import EmbeddedStack
from services.core.app import App, open_app
from services.core.db import fetch_one
from services.operations.idle import newest, until_idle
from services.operations.preparation import prepare
from services.pipeline import NAMES
from services.receive_email.accept import accept
from tests.benchmarks.idle import tree_seconds
from tests.support.app import merged, settings_for
from tests.support.letters import letter
from tests.support.scripted_model import Behaviour, ScriptedModel, Seen, reply_tool
from tests.support.smtp_server import Session, SmtpServer, Step
from tests.support.stack import broker_under_test, temporary_home
from tests.support.workers import Workers

PATIENCE_S = 3600.0
NONE: Mapping[str, Any] = MappingProxyType({})
WAL = """SELECT wal_bytes::float / 1024 AS kb, (SELECT sum(fsyncs) FROM pg_stat_io WHERE object = 'wal')::float AS syncs
         FROM pg_stat_wal"""
FAILED = "SELECT count(*) AS n FROM events WHERE type = 'turn.failed.v1'"
MOST_CPU_MS = 191.0  # of a mail in a burst, ours and the servers': a third of what it was on 2026-11-23
MOST_SYNCS = 12.0  # waits for the disk of a mail in a burst
REPORTED_S = 11.0  # an idle backend of Postgres reports what it counted within ten seconds


@dataclass(slots=True)
class Clock:
    """When the mail server had accepted the first reply to each address, in seconds of the monotonic clock."""

    accepted: dict[str, float] = field(default_factory=dict)
    _changed: asyncio.Event = field(default_factory=asyncio.Event)

    def note(self, session: Session, step: Step) -> None:
        """The server's script: it says yes to everything."""
        if step == "accepted":
            for address in session.taken:
                self.accepted.setdefault(address, time.monotonic())
            self._changed.set()

    async def until(self, addresses: Iterable[str]) -> None:
        """Return when each of the addresses has its reply. Raises TimeoutError."""
        async with asyncio.timeout(PATIENCE_S):
            for address in addresses:
                while address not in self.accepted:
                    self._changed.clear()
                    await self._changed.wait()


@dataclass(frozen=True, slots=True)
class Spent:
    """What was used so far: CPU seconds of our processes and of the servers, kB of WAL, waits for the disk."""

    ours_s: float
    servers_s: float
    wal_kb: float
    syncs: float

    def since(self, before: Spent, mails: int) -> dict[str, float]:
        """What was used from `before` on, for each of so many mails."""
        return {
            "ours_ms": 1000 * (self.ours_s - before.ours_s) / mails,
            "servers_ms": 1000 * (self.servers_s - before.servers_s) / mails,
            "wal_kb": (self.wal_kb - before.wal_kb) / mails,
            "syncs": (self.syncs - before.syncs) / mails,
        }


@dataclass(slots=True)
class Outside:
    """A running deployment, seen from outside; `app` has its settings and connections, and runs no processor."""

    app: App
    clock: Clock
    workers: Workers
    _posted: int = 0

    async def send(self, count: int) -> dict[str, float]:
        """Put a mail of each of so many new people on the log; when each append began, by address."""
        first, self._posted = self._posted, self._posted + count
        return await post(self.app, range(first, first + count))

    async def answered(self, count: int) -> list[float]:
        """Post so many mails at once; the seconds until each one's reply was accepted, in the order of posting."""
        began = await self.send(count)
        await self.clock.until(began)
        return [self.clock.accepted[address] - at for address, at in began.items()]

    async def settled(self, since: int) -> None:
        """Return when all that follows from the events after `since` is done."""
        await until_idle(self.app, since=since, timeout_s=PATIENCE_S)

    async def newest(self) -> int:
        """The newest event's number."""
        return await newest(self.app)

    async def failed(self) -> int:
        """How many turns failed so far."""
        async with self.app.database.reading() as conn:
            row = await fetch_one(conn, FAILED)
        return int(row["n"]) if row else 0

    async def spent(self) -> Spent:
        """What was used so far; waits until Postgres has reported."""
        await asyncio.sleep(REPORTED_S)
        ours = {worker.process.pid for worker in self.workers.running.values()}
        children = psutil.Process().children()
        async with self.app.database.reading() as conn:
            wal = await fetch_one(conn, WAL)
        assert wal is not None
        return Spent(
            sum(tree_seconds(one) for one in children if one.pid in ours),
            sum(tree_seconds(one) for one in children if one.pid not in ours),
            wal["kb"],
            wal["syncs"],
        )


async def post(app: App, numbers: range) -> dict[str, float]:
    """A mail of each of so many new people; when the append of each to the log began, by address."""
    began = {}
    for number in numbers:
        address = f"p{number}@burst.example"
        text = f"What does it cost for {number} people?"
        raw = letter(text, sender=f"P <{address}>", message_id=f"<{address}>", subject=f"q{number}")
        began[address] = time.monotonic()
        await accept(app, app.settings.inboxes[0], raw, source="file", source_key=str(number))
    return began


def _answer(model: ScriptedModel, asked: Seen) -> Behaviour:
    """A short reply to every mail, a small reflection after every turn; what was asked is not kept."""
    model.requests.clear()
    model.usages.clear()
    if "reply" in asked.tools:
        return reply_tool("reply", {"text": "Hello, here is your answer.", "state": "awaiting_reply"})
    return reply_tool("reflect", {"summary": "They asked, we answered.", "brief": "A customer."})


@asynccontextmanager
async def deployed(
    processes: Sequence[Sequence[str]] = (NAMES,), changes: Mapping[str, Any] = NONE
) -> AsyncIterator[Outside]:
    """A deployment of these processes (each the names of its processors) on servers of its own, at work.

    `changes` are settings over those of every measurement.
    """
    clock = Clock()
    async with ScriptedModel() as model, SmtpServer(script=clock.note) as server:
        model.script(lambda asked: _answer(model, asked))
        with temporary_home() as home, EmbeddedStack(home, kafka=broker_under_test()) as endpoints:
            base = {
                "model": {"provider": "anthropic", "base_url": model.base_url},
                "smtp": {"host": "127.0.0.1", "port": server.port},
                "threads": {"quiet_s": 0, "max_auto_replies": 100_000},
                "limits": {"all_per_hour": 1_000_000, "company_per_hour": 1_000_000},
                "workspace": "bench",
            }
            settings = settings_for(
                endpoints, endpoints.database, "bench.", home / "deployment", **merged(base, changes)
            )
            await prepare(settings)
            async with open_app(settings) as app:
                with Workers(settings, home / "logs") as workers:
                    for number, names in enumerate(processes):
                        workers.start(*names, label=f"process {number}")
                    await workers.ready()
                    yield Outside(app, clock, workers)
