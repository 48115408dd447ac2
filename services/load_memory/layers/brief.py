"""The relationship brief: about 500 words, curated after each turn, read from the cache."""

from __future__ import annotations

from services.core.db import Connection, fetch_one
from services.load_memory.cached import cached
from services.load_memory.repeats import sentences
from services.load_memory.section import Section, entry_of, room_for, section
from services.load_memory.turn import SQL, Turn

NAME, SHARED, TRUSTED = "brief", False, False
ABOUT = "Whom you deal with, as you summed it up after their last mail, less what stands above."


def budget(turn: Turn) -> int:
    """Tokens: its words have room in any script."""
    return room_for(turn.app.settings.learning.brief_words)


async def load(turn: Turn, conn: Connection) -> Section:
    """The brief as it stands; nothing for an author who is not authenticated."""
    if turn.participant_id is None:
        return Section()

    async def from_table() -> str:
        row = await fetch_one(conn, SQL.brief, {"participant_id": turn.participant_id})
        return row["text"] if row else ""

    text = await cached(turn, conn, NAME, ("participant", turn.participant_id), from_table, turn.settings.cache_s)
    return section([entry_of(sentences(text), text=text)] if text else [])
