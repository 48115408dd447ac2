"""The unit of work: one transaction in which a processor decides.

It locks aggregates, stamps each of their events with the next version, changes tables only through the
processor's `apply` functions, stores every event, and (with `final`) holds the journal row.

An event has the time of its cause. An effect has the moment at which it happened, by the wall clock where that is
later, and so has what is decided after it: `happened_at` is data, so a rebuild gives it again.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from datetime import UTC, datetime
from typing import Any, TypeVar
from uuid import UUID, uuid5

from psycopg import AsyncCursor
from psycopg.rows import DictRow
from psycopg.types.json import Jsonb

from schemas.events import EventData
from schemas.events.base import Effect
from schemas.events.threads import TimerElapsed
from services.core.bus import event_store
from services.core.bus.envelope import Envelope, caused
from services.core.db import Connection, fetch_all, fetch_one, fetch_several
from services.core.keys.keyring import Begun

Apply = Callable[[Connection, Envelope], Awaitable[None]]
Appliers = Mapping[type[EventData], Apply]
T = TypeVar("T")
Entry = Callable[[], Awaitable[Begun | None]]  # what the journal says; raises where the event was done before


class Unit:
    """One transaction of one consumer because of one event. Made by `Work.unit`."""

    def __init__(
        self,
        conn: Connection,
        cause: Envelope,
        consumer: str,
        step: str,
        appliers: Appliers,
        clock: Callable[[], datetime] | None = None,
        entry: Entry | None = None,
    ) -> None:
        self.conn = conn
        self.cause = cause
        self.now: datetime = cause.time
        self.workspace = cause.workspace
        self.stored: list[Envelope] = []
        self.done_here: list[Envelope] = []
        self._consumer = consumer
        self._step = step
        self._appliers = appliers
        self._entry = entry
        self._begun: Begun | None = None
        self._clock = clock or (lambda: cause.time)
        self._time = cause.time
        self._locked: dict[tuple[str, UUID], AsyncCursor[DictRow]] = {}
        self._versions: dict[tuple[str, UUID], int] = {}

    async def lock(self, kind: str, id: UUID) -> None:
        """Hold the aggregate's row until the end of the transaction: all that is read after this is read under it."""
        if (kind, id) not in self._locked:
            args = {"workspace": self.workspace, "kind": kind, "id": id}
            # Only sent, not waited for: the row comes back with what is read next, and a round trip is saved.
            self._locked[kind, id] = await self.conn.execute(event_store.SQL.lock_aggregate, args)

    async def version(self, kind: str, id: UUID) -> int:
        """The version of an aggregate, which is locked."""
        if (kind, id) not in self._versions:
            held = await self._locked[kind, id].fetchone()
            await self._enter()
            assert held is not None
            self._versions[kind, id] = held["version"]
        return self._versions[kind, id]

    async def read_locked(self, kind: str, id: UUID, statements: Iterable[Any], **args: Any) -> list[list[DictRow]]:
        """Hold the aggregate's row as `lock` does, and the rows of each query then: one round trip for all."""
        await self.lock(kind, id)
        return await self.several(statements, **args, kind=kind, id=id)

    async def record(self, data: EventData) -> Envelope:
        """Store an event that was decided here; an aggregate's event gets its version and is applied.

        An effect that does not say when it happened, happened now.
        """
        data = self._dated(data)
        version = await self._next_version(data) if data.AGGREGATE else None
        step = f"{self._step}/{len(self.stored)}"
        envelope = caused(data, self.cause, source=self._consumer, step=step, version=version, time=self._time)
        if data.AGGREGATE:
            await self._appliers[type(data)](self.conn, envelope)
        self.stored.append(envelope)
        return envelope

    def mark_done(self, envelope: Envelope) -> None:
        """Say that this consumer, to which the event will come, has nothing more to do for it: it is journaled here."""
        self.done_here.append(envelope)

    async def one(self, query: Any, **args: Any) -> DictRow | None:
        """The first row of a query, or None."""
        row = await fetch_one(self.conn, query, args)
        await self._enter()
        return row

    async def all(self, query: Any, **args: Any) -> list[DictRow]:
        """Every row of a query."""
        rows = await fetch_all(self.conn, query, args)
        await self._enter()
        return rows

    async def row_as(self, kind: Callable[..., T], query: Any, **args: Any) -> T | None:
        """The first row of a query as a `kind`, or None; see `services.core.db.rows_as`."""
        row = await self.one(query, **args)
        return None if row is None else kind(**row)

    async def rows_as(self, kind: Callable[..., T], query: Any, **args: Any) -> list[T]:
        """Every row of a query as a `kind`."""
        return [kind(**row) for row in await self.all(query, **args)]

    async def several(self, statements: Iterable[Any], **args: Any) -> list[list[DictRow]]:
        """Every row of each query: one round trip for all."""
        found = await fetch_several(self.conn, statements, {**args, "workspace": self.workspace})
        await self._enter()
        return found

    def id_for(self, name: str) -> UUID:
        """An id that this event, and only this event, gives to `name`."""
        return uuid5(self.cause.id, f"{self._consumer}:{name}")

    async def set_timer(self, timer: TimerElapsed) -> None:
        """Have `timer` come to the topic `timers` when it is due; the same timer id moves it."""
        args = {
            "id": timer.timer_id,
            "workspace": self.workspace,
            "due_at": timer.due_at,
            "correlation_id": self.cause.correlation_id,
            "causation_id": self.cause.id,
            "event": Jsonb(timer.model_dump(mode="json")),
        }
        await self.conn.execute(event_store.SQL.set_timer, args)

    async def cancel_timer(self, timer_id: UUID) -> None:
        """The timer will not come, unless it has already left."""
        await self.conn.execute(event_store.SQL.cancel_timer, {"id": timer_id})

    async def flush(self) -> None:
        """Write the stored events and what is done here; called once, before the commit."""
        await self._enter()
        self.stored = await event_store.store(self.conn, self.stored, self.cause, self._begun)
        if self.done_here:
            args = {
                "consumer": self._consumer,
                "event_ids": [one.id for one in self.done_here],
                "event_days": [one.time.astimezone(UTC).date() for one in self.done_here],
            }
            await self.conn.execute(event_store.SQL.mark_done_here, args)

    async def _enter(self) -> None:
        """Have what the journal says, which was asked first: after any rows of the unit it is there without waiting."""
        if self._entry is not None:
            entry, self._entry = self._entry, None  # taken before it is waited for: it is asked once
            self._begun = await entry()

    def _dated(self, data: EventData) -> EventData:
        if not isinstance(data, Effect):
            return data
        if data.happened_at is None:
            data = data.model_copy(update={"happened_at": max(self._time, self._clock())})
        assert data.happened_at is not None
        self._time = max(self._time, data.happened_at)
        return data

    async def _next_version(self, data: EventData) -> int:
        key = (data.AGGREGATE, data.aggregate_id())
        await self.lock(*key)
        self._versions[key] = await self.version(*key) + 1
        return self._versions[key]
