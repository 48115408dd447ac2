"""The last 24 hours with this participant: whoever writes again an hour later in a new thread is met with it."""

from __future__ import annotations

from services.core.db import Connection, fetch_one
from services.core.settings import ContextSettings
from services.load_memory.section import Section, entry, section
from services.load_memory.turn import SQL, Turn

NAME, SHARED, TRUSTED = "session", False, False


def budget(settings: ContextSettings) -> int:
    """Tokens."""
    return settings.layer_tokens


async def load(turn: Turn, conn: Connection) -> Section:
    """The session, if one runs in another thread."""
    if turn.participant_id is None:
        return Section()
    args = {"participant_id": turn.participant_id, "thread_id": turn.thread_id, "now": turn.now}
    row = await fetch_one(conn, SQL.session, args)
    return section([entry(row["summary"], text=row["summary"], at=row["updated_at"].isoformat())] if row else [])
