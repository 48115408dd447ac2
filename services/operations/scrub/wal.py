"""Turns the write-ahead log over, so that no file of it holds what was written before.

A checkpoint keeps the old segments and gives them the names of coming ones, with all that is in them. So the log is
switched through every file that there is: each is filled with zeros to its end. Then no segment from before is left,
unless something keeps it: a replication slot, `wal_keep_size`, an archive that has not taken it yet.
"""

from __future__ import annotations

from psycopg.errors import InsufficientPrivilege

from services.core.db import Connection, fetch_all, fetch_one
from services.core.db.sql import queries
from services.core.errors import Temporary

SQL = queries(__file__, "queries.sql")
GRANTS = (
    "GRANT pg_checkpoint, pg_monitor TO <role>; GRANT EXECUTE ON FUNCTION pg_switch_wal() TO <role>; "
    "where the provider refuses that, the log is written over by itself as the database is used"
)


class LogKept(Temporary):
    """Something keeps old segments of the write-ahead log."""


class LogOutOfReach(Temporary):
    """The database's role may not turn the log over."""


async def turn_over(conn: Connection) -> int:
    """How many files were written over. Raises `LogOutOfReach` or `LogKept`."""
    try:
        return await _turn_over(conn)
    except InsufficientPrivilege as error:
        raise LogOutOfReach(f"{error.diag.message_primary}: {GRANTS}") from None


async def _turn_over(conn: Connection) -> int:
    last = await _segment(conn)
    await conn.execute(SQL.turn_over)
    await conn.execute(SQL.checkpoint)
    count = len(await fetch_all(conn, SQL.segments))
    for _ in range(count + 1):
        await conn.execute(SQL.turn_over)
    await conn.execute(SQL.checkpoint)
    left = [row["name"] for row in await fetch_all(conn, SQL.segments) if row["name"] <= last]
    if left:
        raise LogKept(
            f"{len(left)} segments up to {left[-1]} are kept: see pg_replication_slots, wal_keep_size and the archiver"
        )
    return count + 1


async def _segment(conn: Connection) -> str:
    row = await fetch_one(conn, SQL.segment)
    assert row is not None
    name: str = row["name"]
    return name
