"""The last 24 hours with this participant: whoever writes again an hour later in a new thread is met with it."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any

from services.core.db import Connection, fetch_one
from services.load_memory.cached import cached
from services.load_memory.section import Entry, Section, entry, room_for, section
from services.load_memory.turn import SQL, Turn

NAME, SHARED, TRUSTED = "session", False, False


def budget(turn: Turn) -> int:
    """Tokens: a summary has room in any script, and as much as other layers have is left for the rest."""
    return room_for(turn.house.settings.learning.summary_words) + turn.settings.layer_tokens


async def load(turn: Turn, conn: Connection) -> Section:
    """The session, if one runs in another thread; in its own thread the summary says it all."""
    if turn.participant_id is None:
        return Section()

    async def from_table() -> str:
        row = await fetch_one(conn, SQL.session, {"participant_id": turn.participant_id})
        return json.dumps(row, default=str) if row else ""

    seconds = int(turn.house.settings.session.hours * 3600)
    kept = await cached(turn, conn, NAME, ("participant", turn.participant_id), from_table, seconds)
    found = json.loads(kept) if kept else None
    if found is None or found["thread_id"] == str(turn.thread_id):
        return Section()
    return section(_entries(found) if datetime.fromisoformat(found["expires_at"]) > turn.now else [])


def _entries(found: dict[str, Any]) -> list[Entry]:
    """What it was about, then what was done, the latest first."""
    last = found["updated_at"]
    entries = [entry(f"{found['summary']} (last activity {last[:16]})", text=found["summary"], at=last)]
    entries += [entry(f"- done: {action}", action=action) for action in found["actions"]]
    if found["entities"]:
        entries.append(entry(f"- about: {', '.join(found['entities'])}", entities=found["entities"]))
    return entries
