"""Removes days of the journal (processed-events table), when nothing of them can come to a consumer again.

Invariants
- An event whose journal row is gone can never be handled again: it has left the log, the dead letters, and the table
  `events`, from which a broker that forgot gets what no consumer has done.
- A day goes as a whole, by dropping its partition; consumers are held up for the moment that takes, or it waits.
"""

from __future__ import annotations

from datetime import date
from typing import Any

import structlog
from psycopg import sql
from psycopg.errors import LockNotAvailable

from services.core.db import Connection, fetch_all, fetch_one
from services.operations.retention.ask import SQL
from services.operations.retention.rounds import Clearing

log = structlog.get_logger(__name__)

LOCK_MS = 500
DEFAULT = ""  # the name of the partition of days that have none of their own


async def due(clearing: Clearing) -> int:
    """How many days may go."""
    async with clearing.app.database.reading() as conn:
        return len(await _days(conn, clearing))


async def kept_for_events(clearing: Clearing) -> int:
    """How many days are old enough, and stay because events of theirs are in the table still."""
    args = _args(clearing)
    async with clearing.app.database.reading() as conn:
        days = {row["day"] for row in await fetch_all(conn, SQL.journal_days, args)}
        return len(days & await _in_table(conn, args))


async def remove(clearing: Clearing) -> int:
    """Remove them; how many. A day that is in use at the moment waits for another round."""
    async with clearing.app.database.reading() as conn:
        days = await _days(conn, clearing)
    count = 0
    for day, name in days:
        if clearing.stop.is_set():
            break
        try:
            async with clearing.app.database.transaction() as conn:
                await conn.execute(SQL.give_up_soon, {"milliseconds": LOCK_MS})
                count += await _remove(conn, clearing, day, name)
        except LockNotAvailable:
            log.info("a day of the journal is in use, and stays for now", day=str(day))
    return count


async def _days(conn: Connection, clearing: Clearing) -> list[tuple[date, str]]:
    """Days that are too old, and of which the table `events` holds nothing, each with its partition."""
    args = _args(clearing)
    in_table = await _in_table(conn, args)
    named = [(row["day"], row["name"]) for row in await fetch_all(conn, SQL.journal_days, args)]
    named += [(row["day"], DEFAULT) for row in await fetch_all(conn, SQL.other_days, args)]
    return [(day, name) for day, name in named if day not in in_table and await _is_over(conn, clearing, day)]


async def _in_table(conn: Connection, args: dict[str, Any]) -> set[date]:
    return {row["day"] for row in await fetch_all(conn, SQL.days_of_events, args)}


async def _remove(conn: Connection, clearing: Clearing, day: date, name: str) -> int:
    if name == DEFAULT:
        await conn.execute(SQL.remove_other_day, {"day": day})
        return 1
    await conn.execute(sql.SQL("LOCK TABLE ONLY journal, {} IN ACCESS EXCLUSIVE MODE").format(sql.Identifier(name)))
    if not await _is_over(conn, clearing, day):
        return 0
    await conn.execute(sql.SQL("DROP TABLE {}").format(sql.Identifier(name)))
    return 1


async def _is_over(conn: Connection, clearing: Clearing, day: date) -> bool:
    """Whether the last of a day's events was done so long ago, too."""
    row = await fetch_one(conn, SQL.newest_done, {"day": day})
    return row is None or row["at"] is None or row["at"] < clearing.before(clearing.settings.retention.journal_days)


def _args(clearing: Clearing) -> dict[str, Any]:
    before = clearing.before(clearing.settings.retention.journal_days)
    return {"day": before.date(), "before": before}
