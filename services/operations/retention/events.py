"""Empties stored events, in the table: what was said in them long ago, or learned, is kept no longer."""

from __future__ import annotations

from psycopg.types.json import Jsonb

from services.core.bus import event_store
from services.core.bus.event_row import EventRow
from services.core.db import rows_as
from services.operations.retention.ask import SQL
from services.operations.retention.expired_events import Emptying, choose, emptied
from services.operations.retention.rounds import BATCH, Clearing


async def due(what: Emptying, clearing: Clearing) -> int:
    """How many stored events hold what is too old and may go."""
    return await _each_batch(what, clearing, go=False)


async def empty(what: Emptying, clearing: Clearing) -> int:
    """Empty them; how many."""
    return await _each_batch(what, clearing, go=True)


async def _each_batch(what: Emptying, clearing: Clearing, *, go: bool) -> int:
    after, count = -1, 0
    while not clearing.stop.is_set():
        batch = await _batch(what, clearing, after, go=go)
        if batch is None:
            break
        after, count = batch[0], count + batch[1]
    return count


async def _batch(what: Emptying, clearing: Clearing, after: int, *, go: bool) -> tuple[int, int] | None:
    """Where the next batch begins, and how many of this one go; None where there is none."""
    before = clearing.before(what.days(clearing.settings.retention))
    args = {"workspace": clearing.workspace, "types": list(what.types), "mark": what.mark, "before": before}
    async with clearing.alone() if go else clearing.app.database.transaction() as conn:
        rows = await rows_as(conn, EventRow.of, SQL.stored_texts, {**args, "after": after, "limit": BATCH})
        if not rows:
            return None
        going = await choose(conn, what, rows)
        for row in going if go else ():
            data = await emptied(clearing, clearing.app.keys, what, row)
            await conn.execute(event_store.SQL.replace_data, {"id": row.id, "data": Jsonb(data)})
    return rows[-1].seq, len(going)
