"""Moves old events from the table to files, a day (of storing, UTC) at a time; and back, for the length of a session.

One transaction holds the rows, writes the file, reads it back, names it in `archives` and deletes the rows. Killed at
any step, nothing has happened but that a file may lie there which does not count; done again, the move is completed.
"""

from __future__ import annotations

import asyncio
import json
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from dataclasses import asdict
from datetime import UTC, date, datetime, time, timedelta
from itertools import islice
from pathlib import Path

from psycopg import sql
from psycopg.types.json import Jsonb

from schemas.topics import catalogue
from services.core.archive.archive import Archive
from services.core.archive.file import Manifest, lines, typed, verify, write
from services.core.bus.event_row import EventRow
from services.core.bus.undone_events import pairs_of
from services.core.db import Connection, fetch_one, queries
from services.core.errors import Temporary
from services.operations.history_lock import hold

SQL = queries(__file__, "archive.sql")
BATCH = 2000
DAY = timedelta(days=1)


class ArchiveInterfered(Temporary):
    """Other rows were deleted than were written to the file; nothing has happened. Try again."""


async def move(conn: Connection, archive: Archive, before: datetime, to: str = "") -> AsyncIterator[Manifest]:
    """Move what was stored before a moment and may leave; each file as its rows are gone.

    `to` is a place other than that of the settings.
    """
    since = datetime.min.replace(tzinfo=UTC)
    while oldest := await _oldest(conn, since, before):
        since = datetime.combine(oldest.astimezone(UTC).date() + DAY, time(), UTC)
        moved = await move_day(conn, archive, since.date() - DAY, min(since, before), to)
        if moved:
            yield moved


async def move_day(conn: Connection, archive: Archive, day: date, until: datetime, to: str = "") -> Manifest | None:
    """Move what was stored before `until`, under the name of `day`; None where nothing may leave."""
    place = archive.at(to)
    async with conn.transaction():
        await hold(conn)
        await conn.execute(_chosen(until))
        with tempfile.TemporaryDirectory(prefix="archive-") as aside:
            path = Path(aside) / "rows"
            manifest = await write(_lines(conn), day, path)
            if manifest is None:
                return None
            await asyncio.to_thread(place.keep, manifest.file, path)
        await asyncio.to_thread(lambda: verify(place.open(manifest.file), manifest))
        await conn.execute(SQL.keep_manifest, {**asdict(manifest), "place": to, "kinds": Jsonb(manifest.kinds)})
        removed = await conn.execute(SQL.remove)
        if removed.rowcount != manifest.events:
            raise ArchiveInterfered(f"{removed.rowcount} rows would have gone, {manifest.events} are in the file")
    return manifest


def _chosen(until: datetime) -> sql.Composed:
    """`choose` makes a table, and such a statement takes no parameters."""
    pairs = {name: sql.Literal(column) for name, column in pairs_of(catalogue().consumers()).args().items()}
    return sql.SQL(SQL.choose).format(until=sql.Literal(until), **pairs)


async def _lines(conn: Connection) -> AsyncIterator[str]:
    async with conn.cursor(name="leaving") as cursor:
        cursor.itersize = BATCH
        await cursor.execute(SQL.leaving_rows)
        async for row in cursor:
            yield row["line"]


async def _oldest(conn: Connection, since: datetime, before: datetime) -> datetime | None:
    row = await fetch_one(conn, SQL.oldest, {"since": since, "before": before})
    return row["at"] if row else None


# Brings archived events back for the length of a session, so that they can be looked up like the others.
#
# The table `events` is not touched: a temporary table takes the rows, and a temporary view named `events`, which this
# session's statements find first, holds both. Time and disk go with what is thawed.
Wanted = Callable[[EventRow], bool]


async def thaw(conn: Connection, archive: Archive, said: Sequence[Manifest], wanted: Wanted) -> int:
    """Let the session see the archived rows that are wanted; how many. Raises `ArchiveMissing` or `ArchiveDamaged`."""
    live = await fetch_one(conn, SQL.live_schema)
    assert live is not None
    await conn.execute(SQL.thaw)
    count, found = 0, _wanted(archive, said, wanted)
    while batch := list(islice(found, BATCH)):
        await conn.execute(SQL.take_thawed, {"lines": batch})
        count += len(batch)
    await conn.execute(sql.SQL(SQL.see_thawed).format(live=sql.Identifier(live["name"])))
    return count


def _wanted(archive: Archive, said: Sequence[Manifest], wanted: Wanted) -> Iterator[str]:
    for one in said:
        yield from (line for line in lines(archive.open(one.file, one.place), one) if wanted(typed(json.loads(line))))
