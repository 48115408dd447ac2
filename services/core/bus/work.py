"""What a handler gets: the event, the deployment, checkpoints and units of work.

A handler asks models and tools through `checkpoint`, outside any transaction, then opens one `unit` and
decides in it. The runner does the rest: journal, publishing, acknowledging.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Any, Generic, TypeVar
from uuid import UUID

from psycopg.rows import DictRow
from psycopg.types.json import Jsonb

from schemas.events import EventData
from services.core.app import App
from services.core.bus import event_store
from services.core.bus.envelope import Envelope
from services.core.bus.sealing import key_for, key_id
from services.core.bus.slots import elsewhere
from services.core.bus.unit import Appliers, Entry, Unit
from services.core.db import Connection, fetch_one
from services.core.keys import Erased, is_sealed
from services.core.keys.aead import seal_json
from services.core.keys.keyring import Begun

E_co = TypeVar("E_co", bound=EventData, covariant=True)
Json = dict[str, Any]


class AlreadyDone(Exception):
    """Another attempt, or another process, has done this event; what it stored stands."""


class Work(Generic[E_co]):
    """One event in the hands of one consumer."""

    def __init__(
        self,
        event: E_co,
        envelope: Envelope,
        consumer: str,
        app: App,
        appliers: Appliers,
        *,
        background: bool = False,
    ) -> None:
        self.event = event
        self.envelope = envelope
        self.app = app
        self.now: datetime = envelope.time
        self.workspace = envelope.workspace
        self.consumer = consumer
        self._appliers = appliers
        self._background = background
        self.journaled = False
        self.stored: list[Envelope] = []
        self.done_here: list[UUID] = []
        self.left_behind = False
        self._answered = True
        self._begun: Begun | None = None

    async def checkpoint(self, step: str, ask: Callable[[], Awaitable[Json]]) -> Json:
        """The answer of `ask`, kept at once under (consumer, event id, step) and never asked for again."""
        key = {"consumer": self.consumer, "event_id": self.envelope.id, "step": step}
        kept = None
        if self._answered:
            async with self.app.database.reading() as conn:
                kept = await fetch_one(conn, event_store.SQL.checkpoint, key)
        if kept is None:
            self._answered = True
            async with elsewhere():
                asked = await ask()
            answer = await self._sealed(step, asked)
            # In a commit of its own: the answer was paid for, and stays where the unit that it is for is rolled back.
            # Where two attempts have asked, both get back the one that was kept first, and decide alike.
            async with self.app.database.reading() as conn:
                kept = await fetch_one(conn, event_store.SQL.keep_checkpoint, {**key, "answer": Jsonb(answer)})
        assert kept is not None
        if is_sealed(kept["answer"]):
            raise Erased
        found: Json = kept["answer"]
        return found

    async def _sealed(self, step: str, answer: Json) -> Json:
        """The answer, readable as long as the event is."""
        id = key_id(self.envelope)
        if id is None:
            return answer
        return seal_json(await self.app.keys.key(id), {}, answer, of=f"{self.envelope.id}/{step}")

    async def keep(self, content: bytes) -> str:
        """Store a blob that belongs to the event, under the key of the event's people; its name."""
        async with self.app.database.transaction(self.workspace, to_disk=False) as conn:  # a new key waits for it
            key = await key_for(conn, self.workspace, self.event, key_id(self.envelope))
        return await self.app.blobs.put(content, key)

    @asynccontextmanager
    async def reading(self) -> AsyncIterator[Connection]:
        """One consistent view of the tables, bound to the event's workspace, for reads outside a unit."""
        async with self.app.database.transaction(self.workspace) as conn:
            yield conn

    @asynccontextmanager
    async def unit(self, step: str = "", *, final: bool = True, done: bool = False) -> AsyncIterator[Unit]:
        """The transaction in which the handler decides. Raises `AlreadyDone` where the journal has the event.

        `final` units hold the journal row; a handler that records an intent first opens a unit that is not,
        with a `step` of its own. One for what follows from an event that is `done` asks nothing of the journal.
        What the journal says comes with the first rows that the unit waits for, and before it stores anything.
        Those in the background wait for the disk together.
        """
        async with self.app.database.transaction(self.workspace, to_disk=not self._background) as conn:
            entry = None if done else await self._entry(conn, final=final)
            unit = Unit(conn, self.envelope, self.consumer, step, self._appliers, self.app.now, entry)
            yield unit
            await unit.flush()
        if self._background:
            await self.app.group_commit.on_disk()
        self.journaled = self.journaled or final
        self.stored += unit.stored
        self.done_here += [one.id for one in unit.done_here]

    def moment(self) -> datetime:
        """The later of the event's time and the wall clock: effects happen then, and retries count from then."""
        return max(self.now, self.app.now())

    async def pass_over(self) -> None:
        """Nothing is to be done for this event here: the journal says that it was seen."""
        await self.app.group_commit.pass_over(**self._journal_key())

    async def done_before(self) -> bool:
        """Whether the journal has this event. The work has begun: an erase that meets its thread now makes it fail.

        `left_behind` says whether an attempt before has stored what is not published yet. Where none has kept an
        answer, `checkpoint` looks for none.
        """
        thread = self.event.shared_in()
        async with self.app.database.reading() as conn:
            row = await fetch_one(conn, event_store.SQL.begin, {**self._journal_key(), "thread": thread})
        assert row is not None
        self._begun = Begun(thread, row["erasures"])
        self.left_behind, self._answered = bool(row["left_behind"]), bool(row["answered"])
        return bool(row["done"])

    def _journal_key(self) -> dict[str, Any]:
        return {
            "consumer": self.consumer,
            "event_id": self.envelope.id,
            "event_day": self.envelope.time.astimezone(UTC).date(),
        }

    async def _entry(self, conn: Connection, *, final: bool) -> Entry:
        """Ask the journal, as the unit's first statement. Work that begins with its unit begins there."""
        key = self._journal_key()
        if not final:
            return await self._asked(conn, event_store.SQL.is_done, key, lambda row: row is None)
        if self._begun is not None:
            return await self._asked(conn, event_store.SQL.mark_done, key, lambda row: row is not None)
        thread = self.event.shared_in()

        def is_new(row: DictRow | None) -> bool:
            assert row is not None
            self._begun = Begun(thread, row["erasures"])
            return bool(row["new"])

        return await self._asked(conn, event_store.SQL.mark_done_at_once, {**key, "thread": thread}, is_new)

    async def _asked(
        self, conn: Connection, query: Any, args: Json, is_open: Callable[[DictRow | None], bool]
    ) -> Entry:
        cursor = await conn.execute(query, args)

        async def entry() -> Begun | None:
            if not is_open(await cursor.fetchone()):
                raise AlreadyDone
            return self._begun

        return entry
