"""Reads rows: as dataclasses where code knows what it asks for, as dicts where any table may be meant."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import chain
from typing import Any, TypeVar

from psycopg.rows import DictRow

from services.core.db.pool import Connection, keys_of

T = TypeVar("T")


async def row_as(conn: Connection, kind: Callable[..., T], query: Any, args: dict[str, Any] | None = None) -> T | None:
    """The first row as a `kind`, or None; see `rows_as`."""
    row = await fetch_one(conn, query, args)
    return None if row is None else kind(**row)


def first_as(kind: Callable[..., T], rows: Iterable[DictRow]) -> T | None:
    """The first of rows that were fetched together with others (`fetch_several`) as a `kind`, or None."""
    return next((kind(**row) for row in rows), None)


async def rows_as(conn: Connection, kind: Callable[..., T], query: Any, args: dict[str, Any] | None = None) -> list[T]:
    """Every row as a `kind`, a dataclass with a field for each column; what is sealed is opened as `fetch_all` does.

    Such a query names its columns. With a star, a column that a newer release adds would break an older one that still
    runs beside it; `EventRow.of` leaves such a one out.
    """
    return [kind(**row) for row in await fetch_all(conn, query, args)]


async def fetch_one(conn: Connection, query: Any, args: dict[str, Any] | None = None) -> DictRow | None:
    """The first row, or None. What is sealed in it is opened, where the connection has the keys."""
    row = await (await conn.execute(query, args)).fetchone()
    if row is not None and (keys := keys_of(conn)):
        await keys.open_rows([row])
    return row


async def fetch_all(
    conn: Connection, query: Any, args: dict[str, Any] | None = None, *, prepare: bool | None = None
) -> list[DictRow]:
    """Every row. What is sealed in them is opened, where the connection has the keys. `prepare` is psycopg's."""
    rows = await (await conn.execute(query, args, prepare=prepare)).fetchall()
    if rows and (keys := keys_of(conn)):
        await keys.open_rows(rows)
    return rows


async def fetch_all_planned(conn: Connection, query: Any, args: dict[str, Any]) -> list[DictRow]:
    """As `fetch_all`, planned anew for these arguments, which costs a millisecond.

    For what words are searched in: of a statement that was prepared Postgres soon makes one plan for any words, and the
    plan that suits words of every message takes a second to find an address.
    """
    return await fetch_all(conn, query, args, prepare=False)


async def sealed_rows_as(
    conn: Connection, kind: Callable[..., T], query: Any, args: dict[str, Any] | None = None
) -> list[T]:
    """Every row as it is stored: what is sealed stays so, and one that cannot be opened fails no other."""
    return [kind(**row) for row in await (await conn.execute(query, args)).fetchall()]


async def fetch_several(conn: Connection, statements: Iterable[Any], args: dict[str, Any]) -> list[list[DictRow]]:
    """Every row of each query, opened as `fetch_all` does: in a `transaction`, one round trip for all of them."""
    cursors = [await conn.execute(one, args) for one in statements]
    found = [await cursor.fetchall() for cursor in cursors]
    if keys := keys_of(conn):
        await keys.open_rows(chain.from_iterable(found))
    return found
