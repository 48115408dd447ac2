"""The last 24 hours with this participant: whoever writes again an hour later in a new thread is met with it."""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from typing import Any

from schemas.words import clip_words
from services.core.db import Connection, fetch_all, fetch_one
from services.load_memory.cached import cached
from services.load_memory.repeats import sentences
from services.load_memory.section import Entry, Section, entry, entry_of, room_for, section
from services.load_memory.turn import SQL, Turn

NAME, SHARED, TRUSTED = "session", False, False
ABOUT = "What the author wrote about in other threads in the last hours."
MOST_MAILS = 5  # of other threads, the newest, each in as many words as a summary


def budget(turn: Turn) -> int:
    """Tokens: a summary has room in any script, and as much as other layers have is left for the rest."""
    return room_for(turn.app.settings.learning.summary_words) + turn.settings.layer_tokens


async def load(turn: Turn, conn: Connection) -> Section:
    """The session, if one runs in another thread (in its own the summary says it all), and mails behind which it is."""
    if turn.participant_id is None:
        return Section()
    return section([*await _running(turn, conn), *await _uncovered(turn, conn)])


async def _running(turn: Turn, conn: Connection) -> list[Entry]:
    async def from_table() -> str:
        row = await fetch_one(conn, SQL.session, {"participant_id": turn.participant_id})
        return json.dumps(row, default=str) if row else ""

    assert turn.participant_id is not None
    seconds = int(turn.app.settings.session.hours * 3600)
    kept = await cached(turn, conn, NAME, ("participant", turn.participant_id), from_table, seconds)
    found = json.loads(kept) if kept else None
    if found is None or found["thread_id"] == str(turn.thread_id):
        return []
    return _entries(found) if datetime.fromisoformat(found["expires_at"]) > turn.now else []


async def _uncovered(turn: Turn, conn: Connection) -> list[Entry]:
    """What they wrote elsewhere in these hours, as long as no summary says it: a draft waits, or a turn is not over."""
    args = {
        "workspace": turn.workspace,
        "participant_id": turn.participant_id,
        "thread_id": turn.thread_id,
        "since": turn.now - timedelta(hours=turn.app.settings.session.hours),
        "now": turn.now,
        "most": MOST_MAILS,
    }
    words = turn.app.settings.learning.summary_words
    return [_mail(row, clip_words(row["text"], words)) for row in await fetch_all(conn, SQL.uncovered, args)]


def _mail(row: dict[str, Any], text: str) -> Entry:
    waits = ", not answered yet" if row["pending"] else ""
    told = f"- in another thread, «{row['subject']}», {row['at']:%Y-%m-%d %H:%M}{waits}: {text}"
    return entry(told, subject=row["subject"], at=row["at"].isoformat(), text=text)


def _entries(found: dict[str, Any]) -> list[Entry]:
    """What it was about, then what was done, the latest first."""
    last = found["updated_at"]
    entries = [
        entry_of(sentences(found["summary"]), "", f" (last activity {last[:16]})", text=found["summary"], at=last)
    ]
    entries += [entry(f"- done: {action}", action=action) for action in found["actions"]]
    if found["entities"]:
        *others, last = found["entities"]
        names = [*(f"{one}, " for one in others), last]
        entries.append(entry_of(names, "- about: ", names=True, entities=found["entities"]))
    return entries
