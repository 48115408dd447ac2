"""Notifications of Postgres (LISTEN), on one connection of the process.

Invariant: after each connect every call is made once, since what was announced meanwhile is lost. Who must not miss
anything looks by itself now and then, too: nothing says that an announcement was lost.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping

import structlog
from psycopg import AsyncConnection, OperationalError, sql

from services.core.clock import either, pause
from services.core.db.patience import PATIENCE

log = structlog.get_logger(__name__)

AGAIN_S = 5.0
CHECK_S = 300.0  # how often a silent connection is asked whether it still stands

Heard = Callable[[str], None]  # gets the payload; "" after a connect


async def listen(database_url: str, channels: Mapping[str, Heard], stop: asyncio.Event) -> None:
    """Make a channel's call for each notification until `stop` is set; a server that is away is connected to again."""
    while not stop.is_set():
        try:
            await _listen(database_url, channels, stop)
        except (OperationalError, OSError) as error:
            log.debug("notifications are not heard, will connect again", error=repr(error))
        await pause(stop, AGAIN_S)


async def _listen(database_url: str, channels: Mapping[str, Heard], stop: asyncio.Event) -> None:
    conn = await AsyncConnection.connect(database_url, autocommit=True, **PATIENCE)
    try:
        for name in channels:
            await conn.execute(sql.SQL("LISTEN {}").format(sql.Identifier(name)))
        for heard in channels.values():
            heard("")
        while not stop.is_set():
            if not await _readable(conn, stop):
                await conn.execute("SELECT 1")
            async for notice in conn.notifies(timeout=0):
                channels[notice.channel](notice.payload)
    finally:
        await conn.close()


async def _readable(conn: AsyncConnection[tuple[object, ...]], stop: asyncio.Event) -> bool:
    """Wait for something to read, `stop`, or `CHECK_S`; whether something came. It costs nothing while nothing does."""
    loop, came = asyncio.get_running_loop(), asyncio.Event()
    loop.add_reader(conn.fileno(), came.set)
    try:
        await either(stop, came, CHECK_S)
    finally:
        loop.remove_reader(conn.fileno())
    return came.is_set()
