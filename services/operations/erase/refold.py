"""Rebuilds the rows of some aggregates from what can still be read of their events.

Invariant: what stands in the tables afterwards is what a rebuild of the whole deployment would put there.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection
from types import MappingProxyType
from typing import Any
from uuid import UUID

from psycopg import sql

from schemas.topics import catalogue
from services.core.archive.archive import Archive
from services.core.archive.history import Stored, opened_archive
from services.core.bus import event_store
from services.core.bus.event_row import EventRow
from services.core.db import Connection, fetch_all, rows_as
from services.core.errors import Permanent
from services.operations.erase.survey import SQL
from services.operations.rebuild.projections import fold_events
from services.pipeline import PROCESSORS

# The column by which the rows of a kind of aggregate are found. A table that lacks it is found by its thread.
COLUMN = MappingProxyType(
    {
        "mail": "mail_id",
        "thread": "thread_id",
        "delivery": "reply_id",
        "summary": "thread_id",
        "participant": "participant_id",
        "periods": "participant_id",
        "investigations": "participant_id",
        "document": "document_id",
        "alert_channel": "channel_id",
        "approval": "approval_id",
        "incident_board": "board_id",
        "outreach_book": "book_id",
        "webhook_endpoint": "endpoint_id",
    }
)
OTHERWISE = "thread_id"

Places = Collection[tuple[str, UUID]]


class CannotEmpty(Permanent):
    """It is not known by which column a table's rows belong to an aggregate."""


async def lock(conn: Connection, workspace: str, places: Places) -> None:
    """Hold the aggregates until the end of the transaction."""
    await fetch_all(conn, SQL.lock_aggregates, _args(workspace, places))


async def refold(
    conn: Connection,
    workspace: str,
    places: Places,
    threads: Collection[UUID],
    archive: Archive,
    gone: Collection[UUID] = (),
) -> int:
    """Delete the aggregates' rows and rebuild them, in the caller's transaction; how many events were applied.

    `threads` are those whose mails are all among the places; `gone` are the people who are erased: the facts of anybody
    else keep their vectors, which no event holds.
    """
    others = [id for kind, id in places if kind == "participant" and id not in gone]
    await conn.execute(SQL.set_vectors_aside, {"people": others})
    for table, column, kind in await columns(conn):
        ids = [id for one, id in places if one == kind] if column == COLUMN[kind] else list(threads)
        deletion = sql.SQL("DELETE FROM {} WHERE {} = ANY(%s)")
        await conn.execute(deletion.format(sql.Identifier(table), sql.Identifier(column)), [ids])
    args = _args(workspace, places)
    await conn.execute(SQL.forget_versions, args)
    folded = await fold_events(_events(conn, args, set(places), archive), conn)
    await conn.execute(SQL.put_vectors_back)
    await conn.execute(SQL.drop_vectors_aside)
    return folded


async def columns(conn: Connection) -> list[tuple[str, str, str]]:
    """Every projection with the column that tells whose a row is, and the kind of aggregate. Raises `CannotEmpty`."""
    kinds = {one.name: {event.AGGREGATE for event in one.appliers} for one in PROCESSORS}
    tables = {table: kinds[writer] for table, writer in catalogue().tables.items() if kinds.get(writer)}
    rows = await fetch_all(conn, SQL.columns, {"tables": list(tables)})
    has = {row["name"]: set(row["columns"]) for row in rows}
    found = []
    for table, of in tables.items():
        for kind in sorted(of):
            column = next((one for one in (COLUMN.get(kind), OTHERWISE) if one in has.get(table, ())), None)
            if column is None:
                raise CannotEmpty(f"{table} has no column that names its {kind}")
            found.append((table, column, kind))
    return found


async def _events(
    conn: Connection, args: dict[str, Any], places: set[tuple[str, UUID]], archive: Archive
) -> AsyncIterator[Stored]:
    rows = await rows_as(conn, EventRow.of, SQL.events_of, args)
    blanked: dict[tuple[Any, ...], int] = {
        ("thread", one["thread_id"]): one["upto"] for one in await fetch_all(conn, SQL.blanked, args)
    }
    async for row in opened_archive(conn, archive):
        if row.workspace == args["workspace"] and (row.aggregate, row.aggregate_id) in places:
            rows.append(row)
    for row in sorted(rows, key=lambda one: (one.aggregate, one.aggregate_id, one.version or 0)):
        if row.version is not None:
            yield event_store.read(row, blanked=row.version <= blanked.get((row.aggregate, row.aggregate_id), 0))


def _args(workspace: str, places: Places) -> dict[str, Any]:
    ordered = sorted(places)
    return {"workspace": workspace, "kinds": [kind for kind, _ in ordered], "ids": [id for _, id in ordered]}
