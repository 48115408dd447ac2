"""The relationship brief: about 500 words, curated after each turn, read from the cache."""

from __future__ import annotations

import json

from services.core.db import Connection, fetch_all
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
    """The brief that holds, then what is not merged into it yet; nothing for an author who is not authenticated."""
    if turn.participant_id is None:
        return Section()

    async def from_table() -> str:
        rows = await fetch_all(conn, SQL.briefs, {"participant_id": turn.participant_id})
        return json.dumps([row["text"] for row in rows])

    kept = await cached(turn, conn, "briefs", ("participant", turn.participant_id), from_table, turn.settings.cache_s)
    return section(entry_of(sentences(text), text=text) for text in json.loads(kept))
