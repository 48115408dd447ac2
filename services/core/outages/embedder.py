"""An outage of the embedding service as others see it: one row while it does not answer, for `status` and alerts.

Whoever it does not answer notes it; whoever it answers clears the row, but asks for that only now and then.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

import psycopg
import structlog
from psycopg_pool import PoolTimeout

from services.core.clock import monotonic
from services.core.db import Database
from services.core.db.pool import SecondConnection
from services.core.errors import EmbedderUnavailable
from services.core.outages import LONGEST_ERROR, SQL
from services.core.storable import storable

if TYPE_CHECKING:
    from services.memory.embeddings import Embedder, Vector

log = structlog.get_logger(__name__)

SERVICE = "embedder"
CLEAR_EVERY_S, NOTE_EVERY_S = 60.0, 5.0  # of one process: another one may have noted what this one does not meet
AGAIN = timedelta(seconds=15)  # at the latest, whoever waits for it asks again


class WatchedEmbedder:
    """An embedder outside of this process. Errors of it say how often it has answered, as `Away` wants."""

    def __init__(self, embedder: Embedder, database: Database, workspace: str, now: Callable[[], datetime]) -> None:
        self.name, self.dimensions = embedder.name, embedder.dimensions
        self._embedder, self._database, self._now = embedder, database, now
        self._key = {"workspace": workspace, "service": SERVICE}
        self._answered = 0
        self._cleared_at = self._noted_at = float("-inf")

    async def embed(self, texts: Sequence[str]) -> list[Vector]:
        """See `Embedder.embed`."""
        try:
            vectors = await self._embedder.embed(texts)
        except EmbedderUnavailable as error:
            error.answered = self._answered
            await self._note(str(error))
            raise
        self._answered += 1
        await self._clear()
        return vectors

    async def _note(self, error: str) -> None:
        self._cleared_at = float("-inf")
        if monotonic() - self._noted_at < NOTE_EVERY_S:
            return
        self._noted_at, now = monotonic(), self._now()
        told = {"error": storable(error[:LONGEST_ERROR]), "now": now, "next_probe": now + AGAIN}
        if await self._write(SQL.note, told):
            log.warning("the embedding service is away: what needs it waits", error=error)

    async def _clear(self) -> None:
        if monotonic() - self._cleared_at >= CLEAR_EVERY_S and await self._write(SQL.clear, {}):
            self._cleared_at, self._noted_at = monotonic(), float("-inf")

    async def _write(self, statement: str, more: dict[str, object]) -> bool:
        try:
            async with self._database.reading() as conn:
                await conn.execute(statement, {**self._key, **more})
        except SecondConnection:  # whoever asks holds a connection; the next one who does not notes it
            return False
        except (psycopg.Error, PoolTimeout) as error:
            log.warning("the state of the embedding service could not be noted", error=repr(error))
            return False
        return True
