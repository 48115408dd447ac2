"""What consumers have not done, found without reading what they have: low-water marks (migration 0240).

Invariants
- What a consumer has no handler for (`topics.yaml`) it has not to do, in any major version. A type that this version
  does not know has to be journaled by all consumers of its topic: a newer version may have a handler for it.
- Every event up to a consumer's mark was done, or stands in `undone_events`. So a single event that is never done keeps
  no mark back, and no cost grows with what is done.
- A mark passes no event that is not visible yet: it stops at what was stored before every transaction that still runs.
- Marks are derived. Without them the whole table is looked through once; the journal decides, always.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from schemas.topics import catalogue
from services.core.app import App
from services.core.db import Connection, fetch_one, queries

SQL = queries(__file__, "undone_events.sql")
BATCH = 20_000  # events that one statement looks at
MARGIN_S = 60.0  # how long after its storing a mark may pass an event


@dataclass(frozen=True, slots=True)
class Pairs:
    """Consumers by the topics that they consume, each pair once."""

    topics: tuple[str, ...]
    consumers: tuple[str, ...]

    def args(self) -> dict[str, Any]:
        """The parameters `topics` and `consumers` of a statement, and `skipped`: what which consumer has not to do."""
        return {"topics": list(self.topics), "consumers": list(self.consumers), "skipped": catalogue().skipped}


def pairs_of(consumers: Sequence[tuple[str, str]]) -> Pairs:
    """From `(topic, consumer)` pairs."""
    return Pairs(tuple(topic for topic, _ in consumers), tuple(name for _, name in consumers))


async def low_mark(conn: Connection, pairs: Pairs) -> int:
    """The least mark; -1 where one of the consumers has none."""
    row = await fetch_one(conn, SQL.low, pairs.args())
    assert row is not None
    return int(row["seq"])


async def not_done_args(conn: Connection, pairs: Pairs) -> dict[str, Any]:
    """The parameters of a statement that asks the function `left_to_do`: `topics`, `consumers`, `skipped`, `low`."""
    return {**pairs.args(), "low": await low_mark(conn, pairs)}


async def advance(app: App, pairs: Pairs, *, margin_s: float = MARGIN_S) -> None:
    """Move the marks on as far as they go. Several processes may do it at once; nothing new, nothing written."""
    before, moved = None, True
    while moved:  # a transaction for each batch, and so a single one where nothing is new
        async with app.database.transaction() as conn:
            before = before or await fetch_one(conn, SQL.all_stored_before, {"margin_s": margin_s})
            assert before is not None
            low = await low_mark(conn, pairs)
            args = {**pairs.args(), "low": low, "limit": BATCH, "moment": before["moment"]}
            row = await fetch_one(conn, SQL.advance, args)
            moved = bool(row and row["moved"])
            if not moved:
                await conn.execute(SQL.forget_done)


async def undone_places(conn: Connection, pairs: Pairs) -> list[int]:
    """Where the events stand (`events.seq`) that some consumer has not done, in order."""
    cursor = await conn.execute(SQL.undone, await not_done_args(conn, pairs))
    return [row["seq"] for row in await cursor.fetchall()]
