"""Folds the stored events through every `apply` into a fresh database, and says by a hash whether two states agree.

Invariants
- An event is applied once per version, however often it comes; a version that is missing is an error, not a gap.
- The order of different aggregates does not matter, so each of them can be folded alone.
- No model, no clock and no broker takes part.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from datetime import datetime
from typing import Any, LiteralString, cast

from psycopg import AsyncConnection
from psycopg.rows import dict_row

from schemas.topics import catalogue
from services.core.bus import history
from services.core.bus.envelope import Envelope
from services.core.db import Connection, fetch_all, fetch_one, queries
from services.core.db.migrate import migrate
from services.core.errors import Permanent
from services.pipeline import PROCESSORS, appliers

SQL = queries(__file__, "fold.sql")
BATCH = 500


class HistoryBroken(Permanent):
    """An aggregate's events do not follow each other: a version is missing, or nobody can apply it."""


def projections() -> tuple[str, ...]:
    """The tables that a fold makes: those of the processors, and the aggregates' versions."""
    names = {one.name for one in PROCESSORS}
    return ("aggregates", *sorted(table for table, writer in catalogue().tables.items() if writer in names))


async def fold(source: Connection, target_url: str, until: datetime | None = None) -> int:
    """Apply every event that `source` had stored by `until` in the database at `target_url`; how many changed it.

    The target is migrated first. Done again, it goes on where the target stands. Raises `HistoryBroken`.
    """
    await asyncio.to_thread(migrate, target_url)
    async with (
        await AsyncConnection.connect(target_url, autocommit=True, row_factory=dict_row) as target,
        aclosing(stored_events(source, until)) as events,
    ):
        return await fold_events(events, target)


async def stored_events(source: Connection, until: datetime | None = None) -> AsyncGenerator[Envelope]:
    """Every event of an aggregate, one aggregate after the other, each in version order."""
    async with source.transaction(), source.cursor(name="fold") as cursor:
        cursor.itersize = BATCH
        await cursor.execute(SQL.aggregate_events, {"until": until})
        async for row in cursor:
            yield history.envelope(row)


async def fold_events(events: AsyncIterator[Envelope], target: Connection) -> int:
    """Apply events, in the order in which they come, to the tables of `target`; how many changed them."""
    await target.execute(SQL.speak_utc)
    count, batch = 0, []
    async for event in events:
        batch.append(event)
        if len(batch) == BATCH:
            count += await _apply_all(target, batch)
            batch = []
    return count + await _apply_all(target, batch)


async def state_hash(conn: Connection) -> dict[str, str]:
    """A SHA-256 (hex) for each projection, equal where the rows are. Vectors and generated columns do not count."""
    await conn.execute(SQL.speak_utc)
    statements = await fetch_all(conn, SQL.hash_statements, {"tables": list(projections())})
    hashes: dict[str, str] = {}
    for one in statements:
        row = await fetch_one(conn, cast(LiteralString, one["statement"]))
        assert row is not None
        hashes[one["name"]] = row["hash"]
    return hashes


async def _apply_all(target: Connection, events: list[Envelope]) -> int:
    async with target.transaction():
        return sum([await _apply(target, event) for event in events])


async def _apply(target: Connection, event: Envelope) -> bool:
    advanced = await fetch_one(target, SQL.advance, _place(event))
    if advanced is None:
        return False
    if event.version != advanced["before"] + 1:
        raise HistoryBroken(f"{event.type} {event.id} has version {event.version} after {advanced['before']}")
    apply = appliers().get(type(event.data))
    if apply is None:
        raise HistoryBroken(f"nobody applies {event.type}")
    await apply(target, event)
    return True


def _place(event: Envelope) -> dict[str, Any]:
    data = event.data
    return {"workspace": event.workspace, "kind": data.AGGREGATE, "id": data.aggregate_id(), "version": event.version}
