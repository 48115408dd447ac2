"""Where two states of the projections differ: by hash, then by the first rows that only one of them has."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from psycopg import sql

from services.core.db import Connection, fetch_all, fetch_one
from services.operations.rebuild.projections import state_hash
from services.operations.rebuild.shadow_schema import SQL

SHOWN = 3  # rows of each side of each table


@dataclass(frozen=True, slots=True)
class TableDifference:
    """A table that differs, with the first rows that stand in one state only, as JSON data."""

    table: str
    live_only: tuple[dict[str, Any], ...]
    folded_only: tuple[dict[str, Any], ...]


@dataclass(frozen=True, slots=True)
class Comparison:
    """The live tables' hashes, and what differs from the rebuild; nothing means that they are the same state."""

    events: int
    hashes: dict[str, str]
    differences: tuple[TableDifference, ...]


async def compare(conn: Connection, schemas: tuple[str, str], tables: tuple[str, ...], events: int) -> Comparison:
    """Compare `tables` in the schemas (live, rebuilt), in the caller's transaction, which `conn` begins in `folded`."""
    theirs = await state_hash(conn, tables)
    await conn.execute(SQL.look_at, {"schema": schemas[0]})
    ours = await state_hash(conn, tables)
    different = [table for table in ours if ours[table] != theirs.get(table)]
    found = tuple([await _difference(conn, schemas, table) for table in different])
    return Comparison(events, ours, found)


async def _difference(conn: Connection, schemas: tuple[str, str], table: str) -> TableDifference:
    live, folded = schemas
    row = await fetch_one(conn, SQL.hashed_columns, {"schema": live, "table": table})
    columns = row["columns"] if row else "*"
    return TableDifference(
        table,
        await _only_in(conn, live, folded, table, columns),
        await _only_in(conn, folded, live, table, columns),
    )


async def _only_in(conn: Connection, one: str, other: str, table: str, columns: str) -> tuple[dict[str, Any], ...]:
    query = sql.SQL(SQL.only_in).format(
        columns=sql.SQL(columns),
        one=sql.Identifier(one),
        other=sql.Identifier(other),
        table=sql.Identifier(table),
    )
    return tuple(row["row"] for row in await fetch_all(conn, query, {"limit": SHOWN}))
