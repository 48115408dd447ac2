"""Clears what an erase has marked: done again, it goes on where it was cut short.

Invariant: a table counts as cleared when its file is another than at the erase, whoever rewrote it; the log when no
segment from before the last rewrite is left. So the proof need not read a single page, and no compression hides a word.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from services.core.app import App
from services.core.db import Connection, fetch_all
from services.core.db.sql import queries
from services.operations.rebuild.shadow_schema import connected
from services.operations.scrub.tables import (
    LogKept,
    LogOutOfReach,
    rewrite,
    rewrite_statistics,
    turn_over,
    wait_for_readers,
)

SQL = queries(__file__, "queries.sql")
LOG = "pg_wal"
STATISTICS = "pg_statistic"

# Tables that hold ids, times and what is sealed alone; documents of the knowledge base are about nobody.
EVENTS = frozenset({"events", "resealed_events"})
NOBODYS = frozenset({"aggregates", "archives", "blanked_threads", "chunks", "citations", "document_log", "documents"})
BOOKKEEPING = frozenset(
    {"consumed_marks", "dead_letter_marks", "dead_letter_places", "erased_suppressions", "erasures",
     "fact_uses", "fact_uses_counted", "inbox_positions",
     "journal_other", "key_copies",
     "log_topics", "removed_blobs", "residues", "sending_holds", "undone_events", "upkeep"}
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Left:
    """A place that was not cleared, and why; `out_of_reach` where the database's role may not."""

    place: str
    reason: str
    out_of_reach: bool


@dataclass(frozen=True, slots=True)
class Scrubbed:
    """What was rewritten, and what could not be cleared."""

    tables: int = 0
    log_files: int = 0
    left: tuple[Left, ...] = ()


async def mark(conn: Connection, at: datetime, *, events: bool) -> None:
    """What was deleted in the caller's transaction may lie on disk; `events`: in the table of events, too."""
    clean = NOBODYS | BOOKKEEPING | (frozenset() if events else EVENTS)
    await conn.execute(SQL.mark, {"at": at, "clean": sorted(clean)})


async def pending(conn: Connection) -> list[str]:
    """The places that have not been cleared since an erase."""
    return [row["place"] for row in await fetch_all(conn, SQL.pending) if not row["rewritten"]]


async def scrub(app: App, told: Callable[[str], None] = lambda _: None) -> Scrubbed:
    """Rewrite what is marked and turn the log over. Raises `TableBusy` or `RowsStillRead`: do it again later."""
    async with connected(app.settings.database_url) as conn:
        places = await fetch_all(conn, SQL.pending)
        if not places:
            return Scrubbed()
        await wait_for_readers(conn)
        tables = [row["place"] for row in places if row["place"] != LOG and not row["rewritten"]]
        left = []
        for table in tables:
            told(table)
            if not await rewrite(conn, table):
                left.append(Left(table, "the database's role does not own it", False))
        if not await rewrite_statistics(conn):
            left.append(Left(STATISTICS, "only a superuser may rewrite it", True))
        told(LOG)
        files = 0
        try:
            files = await turn_over(conn)
        except (LogKept, LogOutOfReach) as error:
            left.append(Left(LOG, str(error), isinstance(error, LogOutOfReach)))
        for row in places:
            if row["place"] not in {one.place for one in left}:
                await conn.execute(SQL.cleared, {"place": row["place"], "at": app.now()})
    kept = {one.place for one in left}
    return Scrubbed(sum(one not in kept for one in tables), files, tuple(left))


async def mark_all(app: App) -> None:
    """Have the next scrub rewrite everything, whoever deleted what."""
    async with connected(app.settings.database_url) as conn:
        await mark(conn, app.now(), events=True)
