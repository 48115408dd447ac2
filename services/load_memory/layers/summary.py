"""The rolling summary of what the author and we have said in this thread."""

from __future__ import annotations

import json

from services.core.db import Connection, fetch_one
from services.load_memory.cached import cached
from services.load_memory.section import Section, entry, room_for, section
from services.load_memory.turn import SQL, Turn

NAME, SHARED, TRUSTED = "summary", False, False
ABOUT = "This thread so far, without its newest messages."


def budget(turn: Turn) -> int:
    """Tokens: its words have room in any script."""
    return room_for(turn.app.settings.learning.summary_words)


async def load(turn: Turn, conn: Connection) -> Section:
    """The summary as it stands; mails that it does not cover yet are in `recent`, raw."""

    async def from_table() -> str:
        row = await fetch_one(conn, SQL.summary, {"thread_id": turn.thread_id, **turn.of_author})
        return json.dumps({"text": row["text"], "at": row["updated_at"].isoformat()} if row else {})

    whose = "+".join(map(str, turn.of_author["author_ids"]))
    name = f"{NAME}:{whose}:{turn.of_author['trusted']}"
    kept = await cached(turn, conn, name, ("summary", turn.thread_id), from_table, turn.settings.cache_s)
    found = json.loads(kept)
    return section([entry(found["text"], **found)] if found.get("text") else [])
