"""Turns that wait for a reply, in any number, and processes of `generate_reply` that write it: for scale and concurrency.

The turns are rows and events as the deployment makes them, put there directly; processes, broker, database and the model's
server are real. Threads are spread evenly over the partitions, as very many threads are.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from itertools import cycle
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

from aiokafka.partitioner import murmur2

from deploy.local import EmbeddedStack
from schemas.events.replies import ContextLayer, MemoryLoaded
from services.core.app import App, open_app
from services.core.bus import event_store
from services.core.bus.envelope import Envelope, first
from services.core.bus.runner import publish
from services.core.db import fetch_all, fetch_one
from services.operations.preparation import prepare
from tests.support.app import settings_for
from tests.support.scripted_model import ScriptedModel, Seen, reply_tool
from tests.support.stack import temporary_home
from tests.support.workers import Worker, Workers

PARTITIONS = 12
PATIENCE_S = 300.0
OPEN_TURN = """INSERT INTO turns (turn_id, workspace, thread_id, mail_ids, opened_at, waiting_since)
               VALUES (%(turn_id)s, %(workspace)s, %(thread_id)s, %(mail_ids)s, %(now)s, %(now)s)"""
LOOKS_S = 0.5  # the model answers in this process, and waits while it looks
HOW_MANY = "SELECT count(*) AS drafts FROM events WHERE type = 'reply.drafted.v1' AND causation_id = ANY(%(causes)s)"
DRAFTS = """SELECT causation_id AS cause, key, extract(epoch FROM stored_at)::float AS at FROM events
            WHERE type = 'reply.drafted.v1' AND causation_id = ANY(%(causes)s) ORDER BY seq"""


@dataclass(slots=True)
class Load:
    """A deployment without processors, the model's server, and when each question came to it (seconds, monotonic)."""

    app: App
    server: ScriptedModel
    folder: Path
    asked: list[float] = field(default_factory=list)

    @contextmanager
    def worker(self) -> Iterator[Worker]:
        """One more process of `generate_reply`."""
        with Workers(self.app.settings, self.folder / uuid4().hex) as workers:
            yield workers.start("generate_reply")

    async def turns(self, count: int, *, second_of: int = 0) -> list[Envelope]:
        """Open so many turns; their `memory.loaded`, and for one thread in `second_of` another one, later on.

        The threads with a second turn are of the first half: that of a late thread waits, in any process, until the
        first one is answered, when all others are done.
        """
        partitions = cycle(range(PARTITIONS))
        loaded = [self._loaded(_thread_on(next(partitions))) for _ in range(count)]
        async with self.app.database.reading() as conn:
            for one in loaded:
                opened = {"mail_ids": list(one.mail_ids), "workspace": "bench", "now": self.app.now()}
                await conn.execute(OPEN_TURN, {**one.model_dump(), **opened})
        again = loaded[: count // 2 : second_of // 2] if second_of else []
        return [
            first(one, id=uuid4(), source="load_memory", time=self.app.now(), workspace="bench")
            for one in (*loaded, *again)
        ]

    async def publish(self, events: list[Envelope]) -> None:
        """Store them and put them on their topic."""
        async with self.app.database.transaction() as conn:
            await event_store.store(conn, events)
        for begin in range(0, len(events), 500):
            await publish(self.app, events[begin : begin + 500])

    async def drafts(self, events: list[Envelope]) -> list[dict[str, Any]]:
        """The drafts written because of these events so far, in order: cause, key, at (Unix seconds)."""
        async with self.app.database.reading() as conn:
            return await fetch_all(conn, DRAFTS, {"causes": [one.id for one in events]})

    async def all_drafts(self, events: list[Envelope], share: float = 1.0) -> list[dict[str, Any]]:
        """Return when this share of them has its draft. Raises TimeoutError."""
        async with asyncio.timeout(PATIENCE_S):
            while await self._how_many(events) < share * len(events):
                await asyncio.sleep(LOOKS_S)
        return await self.drafts(events)

    async def _how_many(self, events: list[Envelope]) -> int:
        async with self.app.database.reading() as conn:
            found = await fetch_one(conn, HOW_MANY, {"causes": [one.id for one in events]})
        return int(found["drafts"]) if found else 0

    def answer(self, _: Seen) -> object:
        """A short reply."""
        self.asked.append(time.monotonic())
        return reply_tool("reply", {"text": "Hello, here is your answer.", "state": "awaiting_reply"})

    @staticmethod
    def _loaded(thread_id: UUID) -> MemoryLoaded:
        layer = ContextLayer(name="mail", text="What does the Team plan cost? " * 20, tokens=160, trusted=False)
        ids = {"turn_id": uuid4(), "participant_id": uuid4(), "mail_ids": (uuid4(),)}
        return MemoryLoaded.model_validate(
            {**ids, "thread_id": thread_id, "inbox": "support", "trusted": True, "layers": (layer,)}
        )


@asynccontextmanager
async def reply_load(*, delay_s: float, lanes: dict[str, float]) -> AsyncIterator[Load]:
    """A load on an embedded stack of its own; the model takes `delay_s` for each answer."""
    async with ScriptedModel() as server:
        server.delay_s = delay_s
        with temporary_home() as home, EmbeddedStack(home) as endpoints:
            model = {"provider": "anthropic", "base_url": server.base_url}
            changes = {"lanes": lanes, "model": model, "workspace": "bench"}
            settings = settings_for(endpoints, endpoints.database, "bench.", home / "deployment", **changes)
            await prepare(settings)
            async with open_app(settings) as app:
                load = Load(app, server, home / "logs")
                server.script(load.answer)  # type: ignore[arg-type]
                yield load


def out_of_order(events: list[Envelope], drafts: list[dict[str, Any]]) -> int:
    """How many threads have their drafts in another order than their events."""
    sent, written = _by_key((one.key, one.id) for one in events), _by_key((row["key"], row["cause"]) for row in drafts)
    return sum(order != written.get(key) for key, order in sent.items())


def _by_key(pairs: Iterator[tuple[str, UUID]]) -> dict[str, list[UUID]]:
    found: dict[str, list[UUID]] = {}
    for key, id in pairs:
        found.setdefault(key, []).append(id)
    return found


def _thread_on(partition: int) -> UUID:
    """A new thread whose key Kafka's own hash puts on this partition."""
    while True:
        thread = uuid4()
        if (murmur2(str(thread).encode()) & 0x7FFFFFFF) % PARTITIONS == partition:
            return thread
