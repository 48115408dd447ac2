"""Locks that end with the process: Postgres advisory locks, all held by one connection of the process.

For what must not be done by two processes at once but cannot be done inside a transaction (an SMTP dialogue).
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from uuid import UUID

from psycopg import AsyncConnection, OperationalError

from services.core.db.patience import PATIENCE
from services.core.errors import Temporary


class HeldElsewhere(Temporary):
    """Another process, or another task of this one, is doing this right now."""


class Locks:
    """Locks by id. If the connection is lost, so are the locks; the next use connects again."""

    def __init__(self, database_url: str) -> None:
        self._url = database_url
        self._held: set[int] = set()
        self._talk = asyncio.Lock()
        self._conn: AsyncConnection[tuple[bool]] | None = None

    @asynccontextmanager
    async def hold(self, id: UUID) -> AsyncIterator[None]:
        """Hold the lock for the block. Raises `HeldElsewhere` at once where it is held."""
        key = int.from_bytes(id.bytes[:8], "big", signed=True)
        if key in self._held:
            raise HeldElsewhere(f"{id} is being worked on by this process")
        self._held.add(key)
        try:
            if not await self._ask("SELECT pg_try_advisory_lock(%s)", key):
                raise HeldElsewhere(f"{id} is being worked on by another process")
            try:
                yield
            finally:
                await self._release(key)
        finally:
            self._held.discard(key)

    async def close(self) -> None:
        """Give everything back."""
        if self._conn is not None:
            await self._conn.close()

    async def _release(self, key: int) -> None:
        try:
            await self._ask("SELECT pg_advisory_unlock(%s)", key)
        except OperationalError:
            self._conn = None

    async def _ask(self, query: str, key: int) -> bool:
        async with self._talk:
            if self._conn is None or self._conn.closed or self._conn.broken:
                self._conn = await AsyncConnection.connect(self._url, autocommit=True, **PATIENCE)
            row = await (await self._conn.execute(query, [key])).fetchone()
        return bool(row and row[0])
