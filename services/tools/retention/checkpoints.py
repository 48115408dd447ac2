"""Removes old answers of models and tools. An event that would need one has left the log long before."""

from __future__ import annotations

from services.core.db import fetch_one
from services.tools.retention.ask import SQL
from services.tools.retention.clearing import BATCH, Clearing


async def due(clearing: Clearing) -> int:
    """How many answers are too old."""
    async with clearing.house.database.reading() as conn:
        row = await fetch_one(conn, SQL.count_checkpoints, _args(clearing))
    return int(row["n"]) if row else 0


async def remove(clearing: Clearing) -> int:
    """Remove them; how many."""
    count = 0
    while not clearing.stop.is_set():
        async with clearing.house.database.transaction() as conn:
            done = await conn.execute(SQL.remove_checkpoints, {**_args(clearing), "limit": BATCH})
        count += done.rowcount
        if done.rowcount < BATCH:
            break
    return count


def _args(clearing: Clearing) -> dict[str, object]:
    return {"before": clearing.before(clearing.settings.retention.checkpoints_days)}
