"""What our own people keep of the author: their profile. It stands before all that was learned, and over it."""

from __future__ import annotations

from services.core.db import Connection, fetch_all
from services.load_memory.section import Section, entry, section
from services.load_memory.turn import SQL, Turn

NAME, SHARED, TRUSTED = "profile", False, True
ABOUT = "Kept of the author by our own people; where what was learned says otherwise, this holds."


def budget(turn: Turn) -> int:
    """Tokens."""
    return turn.settings.layer_tokens


async def load(turn: Turn, conn: Connection) -> Section:
    """Nothing for an author who is not authenticated."""
    if turn.participant_id is None:
        return Section()
    rows = await fetch_all(conn, SQL.profile, {"participant_id": turn.participant_id})
    return section(entry(f"- {row['field']}: {row['value']}", **row) for row in rows)
