"""What changed since an event, as keys and versions alone: it tells a page when it is old."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from services.core.db import Connection, queries, rows_as

SQL = queries(__file__, "changes.sql")
WINDOW = 200  # numbers that are read again: transactions commit out of order
MOST = 1000


@dataclass(frozen=True, slots=True)
class Change:
    """An event of a thread, a person or a person's investigations: its number and key, the aggregate's version or 0."""

    seq: int
    kind: Literal["thread", "person", "investigation"]
    key: str
    version: int


async def changes_since(conn: Connection, workspace: str, seq: int) -> list[Change]:
    """The events after a number, the oldest first, at most so many at once."""
    args = {"workspace": workspace, "seq": seq, "limit": MOST}
    return await rows_as(conn, Change, SQL.changes, args)
