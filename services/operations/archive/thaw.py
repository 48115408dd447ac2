"""Brings archived events back for the length of a session, so that they can be looked up like the others.

The table `events` is not touched: a temporary table takes the rows, and a temporary view named `events`, which this
session's statements find first, holds both. Time and disk go with what is thawed.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from itertools import islice

from psycopg import sql

from services.core.archive.archive import Archive
from services.core.archive.file import Manifest, lines
from services.core.bus.event_store import EventRow
from services.core.db import Connection, fetch_one, queries

SQL = queries(__file__)
BATCH = 2000

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
        yield from (line for line in lines(archive.open(one.file, one.place), one) if wanted(json.loads(line)))
