"""The unit of work: one transaction in which a processor decides.

It locks aggregates, stamps each of their events with the next version, changes tables only through the
processor's `apply` functions, stores every event, and (with `final`) holds the journal row.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid5

from psycopg.types.json import Jsonb

from schemas.events import EventData
from schemas.events.threads import TimerElapsed
from services.core.bus import history
from services.core.bus.envelope import Envelope, caused
from services.core.db import Connection, fetch_all, fetch_one, fetch_several
from services.core.keys.keyring import Begun

Apply = Callable[[Connection, Envelope], Awaitable[None]]
Appliers = Mapping[type[EventData], Apply]
Row = dict[str, Any]


class Unit:
    """One transaction of one consumer because of one event. Made by `Work.unit`."""

    def __init__(
        self,
        conn: Connection,
        cause: Envelope,
        consumer: str,
        step: str,
        appliers: Appliers,
        begun: Begun | None = None,
    ) -> None:
        self.conn = conn
        self.cause = cause
        self.now: datetime = cause.time
        self.workspace = cause.workspace
        self.stored: list[Envelope] = []
        self.settled: list[UUID] = []
        self._consumer = consumer
        self._step = step
        self._appliers = appliers
        self._begun = begun
        self._versions: dict[tuple[str, UUID], int] = {}

    async def lock(self, kind: str, id: UUID) -> int:
        """Hold the aggregate's row until the end of the transaction; its version."""
        await self.read_locked(kind, id, ())
        return self._versions[kind, id]

    async def read_locked(self, kind: str, id: UUID, statements: Iterable[Any], **args: Any) -> list[list[Row]]:
        """Hold the aggregate's row as `lock` does, and the rows of each query then: one round trip for all."""
        everything = {**args, "workspace": self.workspace, "kind": kind, "id": id}
        [held], *found = await fetch_several(self.conn, (history.SQL.lock_aggregate, *statements), everything)
        self._versions.setdefault((kind, id), held["version"])
        return found

    async def record(self, data: EventData) -> Envelope:
        """Store an event that was decided here; an aggregate's event gets its version and is applied."""
        version = await self._next_version(data) if data.AGGREGATE else None
        step = f"{self._step}/{len(self.stored)}"
        envelope = caused(data, self.cause, source=self._consumer, step=step, version=version)
        if data.AGGREGATE:
            await self._appliers[type(data)](self.conn, envelope)
        self.stored.append(envelope)
        return envelope

    def settle(self, envelope: Envelope) -> None:
        """Say that this consumer, to which the event will come, has nothing more to do for it: it is journaled here."""
        self.settled.append(envelope.id)

    async def one(self, query: Any, **args: Any) -> Row | None:
        """The first row of a query, or None."""
        return await fetch_one(self.conn, query, args)

    async def all(self, query: Any, **args: Any) -> list[Row]:
        """Every row of a query."""
        return await fetch_all(self.conn, query, args)

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
        await self.conn.execute(history.SQL.set_timer, args)

    async def cancel_timer(self, timer_id: UUID) -> None:
        """The timer will not come, unless it has already left."""
        await self.conn.execute(history.SQL.cancel_timer, {"id": timer_id})

    async def flush(self) -> None:
        """Write the stored events, the aggregates' versions and what is settled; called once, before the commit."""
        self.stored = await history.store(self.conn, self.stored, self.cause, self._begun)
        if self.settled:
            day = self.now.astimezone(UTC).date()
            args = {"consumer": self._consumer, "event_ids": self.settled, "event_day": day}
            await self.conn.execute(history.SQL.mark_settled, args)
        for (kind, id), version in self._versions.items():
            args = {"workspace": self.workspace, "kind": kind, "id": id, "version": version}
            await self.conn.execute(history.SQL.set_version, args)

    async def _next_version(self, data: EventData) -> int:
        key = (data.AGGREGATE, data.aggregate_id())
        if key not in self._versions:
            await self.lock(*key)
        self._versions[key] += 1
        return self._versions[key]
