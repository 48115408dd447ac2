"""Moves old events to the archive, where the deployment is to do so by itself."""

from __future__ import annotations

from services.core.archive.archive import archive_of
from services.core.db import fetch_one
from services.operations.archive import move
from services.operations.rebuild.shadow_schema import connected
from services.operations.retention.ask import SQL
from services.operations.retention.rounds import Clearing


async def due(clearing: Clearing) -> int:
    """How many events in the table are old enough; what is not done, or of a thread in progress, stays."""
    async with clearing.app.database.reading() as conn:
        row = await fetch_one(
            conn, SQL.count_old_events, {"before": clearing.before(clearing.settings.archive.after_days)}
        )
    return int(row["n"]) if row else 0


async def leave(clearing: Clearing) -> int:
    """Move them; how many."""
    count = 0
    async with connected(clearing.settings.database_url) as conn:
        moves = move(conn, archive_of(clearing.settings), clearing.before(clearing.settings.archive.after_days))
        async for moved in moves:
            count += moved.events
            if clearing.stop.is_set():
                break
    return count
