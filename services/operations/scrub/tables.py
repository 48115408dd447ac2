"""Rewrites tables with all their indices, and the write-ahead log, so that no file holds what deleted rows held.

A table is locked while it is rewritten: who needs it waits. Rows that somebody may still see are not left out, so the
rewrite waits for transactions that are older than the deletion.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from psycopg import sql
from psycopg.errors import InsufficientPrivilege

from services.core.clock import until
from services.core.db import Connection, fetch_all, fetch_one
from services.core.db.patience import when_free
from services.core.db.sql import queries
from services.core.errors import Temporary

SQL = queries(__file__, "queries.sql")
LOCK_TIMEOUT = "3s"
TRIES, PAUSE_S = 20, 1.0
READERS_S = 60.0
STATISTICS = "pg_catalog.pg_statistic"


class TableBusy(Temporary):
    """Somebody else held the table all the time: nothing of it was rewritten, try again."""


class RowsStillRead(Temporary):
    """A transaction from before the deletion is still open: a rewrite would keep what it may see."""


async def wait_for_readers(conn: Connection) -> None:
    """Wait until nobody can see what was deleted before now. Raises `RowsStillRead`."""
    row = await fetch_one(conn, SQL.now_in_line)
    assert row is not None
    before = {"before": str(int(row["id"]) % 2**32)}
    readers: list[dict[str, Any]] = []

    async def are_gone() -> bool:
        nonlocal readers
        readers = await fetch_all(conn, SQL.readers, before)
        return not readers

    if not await until(are_gone, READERS_S, every_s=PAUSE_S / 5):
        raise RowsStillRead(", ".join(f"{one['name']} {one['application']}".strip() for one in readers))


async def rewrite(conn: Connection, table: str) -> bool:
    """Write a table and its indices into new files; False where the role does not own it. Raises `TableBusy`."""
    name = sql.Identifier(table)
    return await _rewrite(conn, sql.SQL("VACUUM (FULL, ANALYZE) {}").format(name), name.as_string(conn))


async def rewrite_statistics(conn: Connection) -> bool:
    """The samples of values that the planner keeps; False where the role may not."""
    return await _rewrite(conn, sql.SQL("VACUUM (FULL) {}").format(sql.SQL(STATISTICS)), STATISTICS)


async def _rewrite(conn: Connection, statement: sql.Composed, table: str) -> bool:
    """Whether it has other files now: what a role may not do is skipped with a warning alone."""
    before = await _file(conn, table)
    await conn.execute(SQL.patience, {"lock_timeout": LOCK_TIMEOUT})
    await when_free(partial(conn.execute, statement), tries=TRIES, pause_s=PAUSE_S, busy=TableBusy(table))
    return await _file(conn, table) != before


async def _file(conn: Connection, table: str) -> int | None:
    row = await fetch_one(conn, SQL.filenode, {"name": table})
    return row["file"] if row else None


# Turns the write-ahead log over, so that no file of it holds what was written before.
#
# A checkpoint keeps the old segments and gives them the names of coming ones, with all that is in them. So the log is
# switched through every file that there is: each is filled with zeros to its end. Then no segment from before is left,
# unless something keeps it: a replication slot, `wal_keep_size`, an archive that has not taken it yet.
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
