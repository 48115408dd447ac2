"""Runs the stored events through every `apply` into fresh tables, and says by a hash whether two states agree.

Invariants
- An event is applied once per version, however often it comes; a version that is missing is an error, not a gap.
- The order of different aggregates does not matter, so each of them can be rebuilt alone.
- No model, no clock and no broker takes part.
- What can no longer be read, because somebody was erased, is skipped: its version counts, nothing else of it.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Collection
from datetime import datetime
from typing import Any, LiteralString, cast
from uuid import UUID

from psycopg import AsyncConnection
from psycopg.rows import dict_row

from schemas.topics import catalogue
from services.core.archive.archive import Archive
from services.core.archive.history import BATCH, Part, Stored, stored_events
from services.core.bus.event_store import Unreadable
from services.core.bus.unit import Appliers
from services.core.db import Connection, fetch_all, fetch_one, queries
from services.core.db.migrate import migrate
from services.core.errors import Permanent
from services.pipeline import PROCESSORS, appliers

SQL = queries(__file__, "projections.sql")

At = tuple[str, str, UUID]  # (workspace, kind, id) of an aggregate
Folded = Callable[[int], None]


class HistoryBroken(Permanent):
    """An aggregate's events do not follow each other: a version is missing, or nobody can apply it."""


def projections() -> tuple[str, ...]:
    """The tables that a rebuild makes: those of the processors, and the aggregates' versions."""
    names = {one.name for one in PROCESSORS}
    return ("aggregates", *sorted(table for table, writer in catalogue().tables.items() if writer in names))


async def fold(
    source: Connection, target_url: str, until: datetime | None = None, archive: Archive | None = None
) -> int:
    """Apply every event of `source` until an event time in the database at `target_url`; how many changed it.

    The target is migrated first. Done again, it goes on where the target stands. Raises `HistoryBroken`, and
    `ArchiveMissing` where older events are archived and nobody says where.
    """
    await asyncio.to_thread(migrate, target_url)
    async with await AsyncConnection.connect(target_url, autocommit=True, row_factory=dict_row) as target:
        return await fold_events(stored_events(source, Part(until=until), archive), target)


async def fold_events(
    events: AsyncIterator[Stored], target: Connection, folded: Folded | None = None, *, gaps: bool = False
) -> int:
    """Apply events, in the order in which they come, to the tables of `target`; how many changed them.

    `folded` hears after each batch how many came. Nobody else may write to the target meanwhile. `gaps` lets versions
    be missing, for a history that lacks what cannot be read.
    """
    await target.execute(SQL.speak_utc)
    await target.execute(SQL.in_no_hurry)
    count, applies = 0, appliers()
    batch: list[Stored] = []
    async for event in events:
        batch.append(event)
        if len(batch) == BATCH:
            count += await _apply_all(target, batch, applies, gaps)
            if folded:
                folded(len(batch))
            batch = []
    count += await _apply_all(target, batch, applies, gaps)
    if folded:
        folded(len(batch))
    return count


async def state_hash(conn: Connection, tables: Collection[str] | None = None) -> dict[str, str]:
    """A SHA-256 (hex) for each projection, equal where the rows are. Vectors and generated columns do not count."""
    await conn.execute(SQL.speak_utc)
    statements = await fetch_all(conn, SQL.hash_statements, {"tables": list(tables or projections())})
    hashes: dict[str, str] = {}
    for one in statements:
        row = await fetch_one(conn, cast(LiteralString, one["statement"]))
        assert row is not None
        hashes[one["name"]] = row["hash"]
    return hashes


async def _apply_all(target: Connection, events: list[Stored], applies: Appliers, gaps: bool) -> int:
    async with target.transaction():
        places = {_place(event) for event in events}
        rows = await fetch_all(target, SQL.versions, _columns(places))
        before = {(row["workspace"], row["kind"], row["id"]): row["version"] for row in rows}
        after, rounds = dict(before), _Rounds()
        count = sum([await _apply(rounds, event, after, applies, gaps) for event in events])
        await rounds.run(target)
        moved = {place: version for place, version in after.items() if before.get(place) != version}
        await target.execute(SQL.keep_versions, {**_columns(moved), "versions": list(moved.values())})
    return count


class _Rounds:
    """Stands in for the connection while events are applied, then runs what it was given, a statement at a time.

    Appliers write and never read, so what they write can wait: the first statement of each aggregate, then the
    second, and so on, each with all its arguments at once.
    """

    def __init__(self) -> None:
        self.place: At | None = None
        self._given: dict[At | None, int] = defaultdict(int)
        self._rounds: dict[tuple[int, Any], list[Any]] = defaultdict(list)

    async def execute(self, query: Any, arguments: Any = None) -> None:
        """Keep a statement of the aggregate at `place`."""
        self._given[self.place] += 1
        self._rounds[self._given[self.place], query].append(arguments)

    async def run(self, target: Connection) -> None:
        """Run the rounds, in order."""
        async with target.cursor() as cursor:
            for place in sorted(self._rounds, key=lambda one: one[0]):
                await cursor.executemany(place[1], self._rounds[place])


async def _apply(rounds: _Rounds, event: Stored, versions: dict[At, int], applies: Appliers, gaps: bool) -> bool:
    place, version = _place(event), event.version or 0
    before = versions.get(place, 0)
    if version <= before:
        return False
    if version != before + 1 and not gaps:
        raise HistoryBroken(f"{event.type} {event.id} has version {version} after {before}")
    if isinstance(event, Unreadable):
        versions[place] = version
        return False
    apply = applies.get(type(event.data))
    if apply is None:
        raise HistoryBroken(f"nobody applies {event.type}")
    rounds.place = place
    await apply(cast(Connection, rounds), event)
    versions[place] = version
    return True


def _place(event: Stored) -> At:
    if isinstance(event, Unreadable):
        return (event.workspace, event.aggregate, event.aggregate_id)
    return (event.workspace, event.data.AGGREGATE, event.data.aggregate_id())


def _columns(places: Collection[At]) -> dict[str, Any]:
    return {
        "workspaces": [workspace for workspace, _, _ in places],
        "kinds": [kind for _, kind, _ in places],
        "ids": [id for _, _, id in places],
    }
