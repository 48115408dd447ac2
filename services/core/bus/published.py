"""Takes published events out of the outbox: those of all calls that wait at once, in one statement."""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from uuid import UUID

from services.core.db import Database, queries

SQL = queries(__file__, "published.sql")


class PublishedEvents:
    """One statement at a time; whoever comes meanwhile waits, and the next one is for all of them.

    Where a statement fails, its caller learns of it. The rows of the others that it was for stay in the outbox too: its
    relay publishes their events again, which consumers know by their ids.
    """

    def __init__(self) -> None:
        self._waiting: set[UUID] = set()
        self._turn = asyncio.Lock()

    async def mark(self, database: Database, ids: Collection[UUID]) -> None:
        """Return when the outbox no longer has these events, which the broker has acknowledged."""
        self._waiting.update(ids)
        async with self._turn:
            all_ids, self._waiting = self._waiting, set()
            if all_ids:
                async with database.reading() as conn:
                    await conn.execute(SQL.mark_published, {"ids": list(all_ids)})
