"""What recurred with this participant, and what people corrected: of which sort, what, how often, and when last.

Whether their matters stayed settled, why a person had to take over, and which drafts a person would not send: read from
what happened to their threads.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from services.core.db import Connection, fetch_all
from services.load_memory.section import Entry, Section, entry, section
from services.load_memory.turn import SQL, Turn

NAME, SHARED, TRUSTED = "patterns", False, False
ABOUT = "How it went with the author so far: what recurred, how often, and when last."

MOST = 12  # patterns, the last seen first


def budget(turn: Turn) -> int:
    """Tokens."""
    return turn.settings.layer_tokens // 2


async def load(turn: Turn, conn: Connection) -> Section:
    """Nothing for an author who is not authenticated."""
    if turn.participant_id is None:
        return Section()
    args = {"workspace": turn.workspace, "participant_id": turn.participant_id, "most": MOST}
    rows = await fetch_all(conn, SQL.patterns, args)
    return section(map(told, rows))


def told(row: Mapping[str, Any]) -> Entry:
    """A pattern as it reads: `- a person had to take over, 3 times, last 2026-03-02: asks for a person`."""
    times = "once" if row["occurrences"] == 1 else f"{row['occurrences']} times"
    what = f": {row['data']}" if row["data"] else ""
    return entry(
        f"- {row['type']}, {times}, last {row['last_at']:%Y-%m-%d}{what}",
        type=row["type"],
        data=row["data"],
        occurrences=row["occurrences"],
        last_seen=row["last_at"].isoformat(),
    )
