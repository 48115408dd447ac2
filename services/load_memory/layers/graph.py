"""What is related to what around this participant: edges of the graph."""

from __future__ import annotations

from services.core.db import Connection, fetch_all
from services.load_memory.section import Section, entry_of, section
from services.load_memory.turn import SQL, Turn

NAME, SHARED, TRUSTED = "graph", False, False
ABOUT = "What is related to what around the author."


def budget(turn: Turn) -> int:
    """Tokens."""
    return turn.settings.layer_tokens // 2


async def load(turn: Turn, conn: Connection) -> Section:
    """Nothing for an author who is not authenticated."""
    if turn.participant_id is None:
        return Section()
    rows = await fetch_all(conn, SQL.relations, {"participant_id": turn.participant_id})
    return section(entry_of([f"{row['subject']} {row['predicate']} {row['object']}"], "- ", **row) for row in rows)
