"""One lock for all who move, empty or erase stored events, and for all who rebuild from them.

Else a rebuild that began before an erase would put back what has been erased since, and two rebuilds would drop each
other's schema (docs/adr/0170). The hold is a lock of Postgres: it ends with the transaction, or the connection,
that took it.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import LiteralString

import structlog
from psycopg import OperationalError

from services.core.clock import until
from services.core.db import Connection, fetch_one, queries
from services.core.errors import Temporary
from services.operations.rebuild.shadow_schema import connected

SQL = queries(__file__, "history_lock.sql")
NAME = "correspondent history"
WAIT_S = 20.0
PAUSE_S = 0.2

log = structlog.get_logger(__name__)


class HistoryHeld(Temporary):
    """A rebuild, an erase, retention or an archive run is running already: nothing was done, try again."""


class HoldLost(Temporary):
    """The connection that held the history broke; nothing was changed, try again."""


async def hold(conn: Connection) -> None:
    """Hold the history until the end of the caller's transaction. Raises `HistoryHeld`."""
    await _take(conn, SQL.hold)


@asynccontextmanager
async def holding(database_url: str) -> AsyncIterator[Connection]:
    """Hold the history for the block, by the connection that is given. Raises `HistoryHeld`."""
    async with connected(database_url) as conn:
        await _take(conn, SQL.hold_on)
        yield conn


async def still(conn: Connection) -> None:
    """Make sure that a connection of `holding` has not been lost. Raises `HoldLost`."""
    try:
        await fetch_one(conn, SQL.still)
    except OperationalError as error:
        raise HoldLost from error


async def _take(conn: Connection, statement: LiteralString) -> None:
    async def is_held() -> bool:
        row = await fetch_one(conn, statement, {"name": NAME})
        held = bool(row and row["held"])
        if not held:
            log.info("waiting for others to let go of the history")
        return held

    if not await until(is_held, WAIT_S, every_s=PAUSE_S):
        raise HistoryHeld
