"""The three things to do with a rebuild: compare it with the live tables, put it in their place, or keep it to read.

A swap stops nobody for long: everything is rebuilt next to the running deployment; then, under a lock on the aggregates
that no unit of work can pass, what was stored meanwhile is applied too, and the tables are swapped in one transaction.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import datetime
from functools import partial
from typing import LiteralString

from psycopg import IsolationLevel, sql

from services.core.app import open_keys
from services.core.archive.archive import Archive
from services.core.archive.history import Part, Stored, manifests, stored_events
from services.core.bus import event_store
from services.core.bus.event_row import EventRow
from services.core.db import Connection, fetch_all, fetch_one
from services.core.db.patience import when_free
from services.core.errors import Temporary
from services.core.settings import Settings
from services.operations.history_lock import holding, still
from services.operations.rebuild.compare import Comparison, compare
from services.operations.rebuild.projections import Folded, fold_events
from services.operations.rebuild.scopes import Scope
from services.operations.rebuild.shadow_schema import SQL, beside, connected, drop, make

SCHEMA, OLD = "rebuilt", "replaced"
PAST = "a past state, left to be read; an erase drops it"  # the comment by which such a schema is known
LOCK_MS = 400  # shorter than Postgres' deadlock_timeout of 1 s: we give up before anybody is killed
LOCK_TRIES = 50
LOCK_PAUSE_S = 0.2


class TablesInUse(Temporary):
    """The live tables were never free for a moment; nothing was changed. Try again at a quieter time."""


async def count_events(database_url: str, scope: Scope) -> int:
    """How many events a rebuild of the scope will meet."""
    async with connected(database_url) as conn:
        row = await fetch_one(conn, SQL.count_events, {"kinds": list(scope.kinds)})
        archived = sum(one.kinds.get(kind, 0) for one in await manifests(conn) for kind in scope.kinds)
    assert row is not None
    return int(row["n"]) + archived


async def count_erased(database_url: str, scope: Scope) -> int:
    """How many of the events that are in the table a rebuild will skip: somebody whom they are about was erased."""
    async with connected(database_url) as conn:
        row = await fetch_one(conn, SQL.count_erased, {"kinds": list(scope.kinds)})
    assert row is not None
    return int(row["n"])


async def check(settings: Settings, scope: Scope, folded: Folded, archive: Archive | None = None) -> Comparison:
    """Rebuild next to the live tables and compare, both as of one moment; nothing is changed. Raises `HistoryHeld`."""
    async with (
        holding(settings.database_url),
        beside(settings.database_url, SCHEMA) as url,
        _both(settings, url) as (live, target),
    ):
        count = await fold_events(stored_events(live, Part(kinds=scope.kinds), archive), target, folded)
        schemas = (await _schema(live), SCHEMA)
        await target.set_isolation_level(IsolationLevel.REPEATABLE_READ)
        async with target.transaction():
            count += await fold_events(_behind(target, schemas, {"kinds": list(scope.kinds)}), target, folded)
            return await compare(target, schemas, scope.tables, count)


async def swap(settings: Settings, scope: Scope, folded: Folded, archive: Archive | None = None) -> int:
    """Rebuild, and put the fresh tables in the live ones' place; how many events were applied.

    Raises `TablesInUse` where the lock never came, `HistoryHeld` or `HoldLost`.
    """
    async with (
        holding(settings.database_url) as lock,
        beside(settings.database_url, SCHEMA) as url,
        _both(settings, url) as (live, target),
    ):
        count = await fold_events(stored_events(live, Part(kinds=scope.kinds), archive), target, folded)
        schemas = (await _schema(live), SCHEMA)
        await _carry_vectors(target, schemas)
        take = partial(_take_their_place, target, schemas, scope, folded, lock)
        return count + await when_free(take, tries=LOCK_TRIES, pause_s=LOCK_PAUSE_S, busy=TablesInUse())


async def drop_past(settings: Settings) -> list[str]:
    """Drop every schema that `past` has left to be read; their names."""
    async with connected(settings.database_url) as conn:
        names = [str(row["name"]) for row in await fetch_all(conn, SQL.past_schemas, {"said": PAST})]
    for name in names:
        await drop(settings.database_url, name)
    return names


async def past(
    settings: Settings, scope: Scope, until: datetime, schema: str, folded: Folded, archive: Archive | None = None
) -> int:
    """Leave the state of an event time in a schema of its own, to be read; how many events made it.

    Raises `HistoryHeld`.
    """
    url = settings.database_url
    async with holding(url), _both(settings, await make(url, schema)) as (live, target):
        await target.execute(sql.SQL("COMMENT ON SCHEMA {} IS {}").format(sql.Identifier(schema), sql.Literal(PAST)))
        part = Part(kinds=scope.kinds, until=until)
        count = await fold_events(stored_events(live, part, archive), target, folded)
        await _carry_vectors(target, (await _schema(live), schema))
        return count


@asynccontextmanager
async def _both(settings: Settings, url: str) -> AsyncIterator[tuple[Connection, Connection]]:
    """Connections to the live tables and to those next to them, both with the live keys."""
    async with (
        open_keys(settings) as keys,
        connected(settings.database_url, keys) as live,
        connected(url, keys) as target,
    ):
        yield live, target


async def _take_their_place(
    target: Connection, schemas: tuple[str, str], scope: Scope, folded: Folded, lock: Connection
) -> int:
    live, fresh = schemas
    kinds = {"kinds": list(scope.kinds)}
    async with target.transaction():
        await target.execute(SQL.give_up_soon, {"milliseconds": LOCK_MS})
        locked = sql.SQL(", ").join(sql.Identifier(live, table) for table in ("aggregates", *scope.tables))
        await target.execute(sql.SQL("LOCK TABLE {} IN ACCESS EXCLUSIVE MODE").format(locked))
        await still(lock)
        count = await fold_events(_behind(target, schemas, kinds), target, folded)
        await target.execute(_in(schemas, SQL.forget_versions), kinds)
        await target.execute(_in(schemas, SQL.take_versions), kinds)
        await _grant(target, schemas, scope.tables)
        await target.execute(sql.SQL("CREATE SCHEMA {}").format(sql.Identifier(OLD)))
        for table in scope.tables:
            await _move(target, table, live, OLD)
            await _move(target, table, fresh, live)
        await target.execute(sql.SQL("DROP SCHEMA {} CASCADE").format(sql.Identifier(OLD)))
    return count


async def _behind(target: Connection, schemas: tuple[str, str], kinds: dict[str, list[str]]) -> AsyncIterator[Stored]:
    for row in await fetch_all(target, _in(schemas, SQL.events_behind), kinds):
        yield event_store.read(EventRow.of(**row), blanked=row["blanked"])


async def _carry_vectors(target: Connection, schemas: tuple[str, str]) -> None:
    carried = SQL.carry_fact_vectors, SQL.carry_chunk_vectors, SQL.carry_said_vectors, SQL.carry_summary_vectors
    for statement in carried:
        await target.execute(_in(schemas, statement))


async def _grant(target: Connection, schemas: tuple[str, str], tables: tuple[str, ...]) -> None:
    args = {"live": schemas[0], "schema": schemas[1], "tables": list(tables)}
    for row in await fetch_all(target, SQL.grants, args):
        await target.execute(row["statement"])


async def _move(target: Connection, table: str, origin: str, to: str) -> None:
    moved = sql.SQL("ALTER TABLE {} SET SCHEMA {}").format(sql.Identifier(origin, table), sql.Identifier(to))
    await target.execute(moved)


def _in(schemas: tuple[str, str], statement: LiteralString) -> sql.Composed:
    live, fresh = schemas
    return sql.SQL(statement).format(live=sql.Identifier(live), beside=sql.Identifier(fresh))


async def _schema(live: Connection) -> str:
    row = await fetch_one(live, SQL.live_schema)
    assert row is not None
    return str(row["name"])
