"""Removes what is kept next to the tables: answers of models and tools, decided dead letters, cached vectors.

An event that would need an answer, or a dead letter that was decided, has left the log long before. Vectors are a
cache: it is emptied, so that none of a text that is gone stays; facts and passages have their own.
"""

from __future__ import annotations

from typing import Any, LiteralString

from services.core.db import fetch_one
from services.memory.embedding_cache import EMBEDDINGS
from services.operations.retention.ask import SQL
from services.operations.retention.rounds import BATCH, Clearing


async def due(clearing: Clearing) -> int:
    """How many answers are too old."""
    return await _count(clearing, SQL.count_checkpoints, clearing.settings.retention.checkpoints_days)


async def remove(clearing: Clearing) -> int:
    """Remove them; how many."""
    args, count = _args(clearing, clearing.settings.retention.checkpoints_days), 0
    while not clearing.stop.is_set():
        async with clearing.app.database.transaction() as conn:
            done = await conn.execute(SQL.remove_checkpoints, {**args, "limit": BATCH})
        count += done.rowcount
        if done.rowcount < BATCH:
            break
    return count


async def due_decisions(clearing: Clearing) -> int:
    """How many decisions are about dead letters that are gone."""
    return await _count(clearing, SQL.count_decisions, clearing.settings.retention.journal_days)


async def remove_decisions(clearing: Clearing) -> int:
    """Remove them; how many."""
    async with clearing.app.database.reading() as conn:
        args = _args(clearing, clearing.settings.retention.journal_days)
        return (await conn.execute(SQL.remove_decisions, args)).rowcount


async def due_vectors(clearing: Clearing) -> int:
    """How many vectors are cached."""
    return await _count(clearing, SQL.count_vectors, 0)


async def empty_vectors(clearing: Clearing) -> int:
    """Empty the cache; how many there were."""
    async with clearing.app.database.reading() as conn:
        return (await conn.execute(EMBEDDINGS.empty)).rowcount


async def _count(clearing: Clearing, query: LiteralString, days: float) -> int:
    async with clearing.app.database.reading() as conn:
        row = await fetch_one(conn, query, _args(clearing, days))
    return int(row["n"]) if row else 0


def _args(clearing: Clearing, days: float) -> dict[str, Any]:
    return {"before": clearing.before(days)}
