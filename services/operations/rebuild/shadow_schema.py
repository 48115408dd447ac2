"""A schema next to the live tables, made by the very migrations that made those, and connections into it.

Invariants
- Every table of the deployment exists in the schema, so that no name falls through to the live one.
- A schema that lasts for a block is locked for it: who finds it unlocked knows that its maker was killed.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import quote, urlsplit

from psycopg import AsyncConnection, sql
from psycopg.rows import dict_row

from services.core.db import Connection, fetch_all, fetch_one, give_keys, queries
from services.core.db.migrate import migrate
from services.core.db.vectors import VectorTypes
from services.core.errors import Permanent
from services.core.keys import Keys

SQL = queries(__file__)


class SchemaExists(Permanent):
    """There is a schema of this name already."""


class SchemaIncomplete(Permanent):
    """The migrations did not make every table of the deployment in the schema."""


@asynccontextmanager
async def connected(database_url: str, keys: Keys | None = None) -> AsyncIterator[Connection]:
    """A connection in autocommit, rows as dicts, times in UTC; `keys` make readable what is about people."""
    async with await AsyncConnection.connect(database_url, autocommit=True, row_factory=dict_row) as conn:
        await VectorTypes().register(conn)
        give_keys(conn, keys)
        await conn.execute(SQL.speak_utc)
        yield conn


async def make(database_url: str, schema: str) -> str:
    """Make the tables, empty, in a new schema; the URL whose connections live there. Raises `SchemaExists`."""
    async with connected(database_url) as conn:
        if await fetch_one(conn, SQL.schema, {"name": schema}):
            raise SchemaExists(f"the schema {schema} exists; drop it first: DROP SCHEMA {schema} CASCADE")
        await conn.execute(sql.SQL("CREATE SCHEMA {}").format(sql.Identifier(schema)))
        where = await fetch_one(conn, SQL.vector_schema)
        live = await fetch_one(conn, SQL.live_schema)
        assert live is not None
        path = (schema, where["name"] if where else live["name"])
        url = _with_search_path(database_url, path)
        await asyncio.to_thread(migrate, url)
        missing = await fetch_all(conn, SQL.missing_tables, {"schema": schema, "live": live["name"]})
    if missing:
        raise SchemaIncomplete(f"{schema} lacks {', '.join(row['name'] for row in missing)}; migrate it first")
    return url


async def drop(database_url: str, schema: str) -> None:
    """Remove the schema and all that stands in it."""
    async with connected(database_url) as conn:
        await conn.execute(sql.SQL("DROP SCHEMA IF EXISTS {} CASCADE").format(sql.Identifier(schema)))


@asynccontextmanager
async def beside(database_url: str, schema: str) -> AsyncIterator[str]:
    """The URL of a schema that lasts for the block; what an interrupted run left of it is removed first."""
    async with connected(database_url) as holder:
        await holder.execute(SQL.occupy, {"name": schema})
        await drop(database_url, schema)
        try:
            yield await make(database_url, schema)
        finally:
            await drop(database_url, schema)


async def clear(database_url: str, names: str, before: Callable[[str], Awaitable[None]]) -> list[str]:
    """Remove the schemas of some names (a regular expression) that nobody occupies; those that somebody does.

    `before` each is removed, what belongs to it can be.
    """
    occupied = []
    for row in await _named(database_url, names):
        async with connected(database_url) as holder:
            found = await fetch_one(holder, SQL.occupy_if_free, row)
            if found and found["free"]:
                await before(row["name"])
                await drop(database_url, row["name"])
            else:
                occupied.append(row["name"])
    return occupied


async def _named(database_url: str, names: str) -> list[dict[str, Any]]:
    async with connected(database_url) as conn:
        return await fetch_all(conn, SQL.named_schemas, {"names": names})


def _with_search_path(database_url: str, schemas: tuple[str, ...]) -> str:
    parts = urlsplit(database_url)
    option = quote(f"-csearch_path={','.join(schemas)}", safe="")
    return parts._replace(query="&".join(filter(None, (parts.query, f"options={option}")))).geturl()
