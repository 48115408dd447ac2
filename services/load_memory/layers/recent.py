"""What the author has seen of the thread's recent messages, within a message and a token budget, the newest kept."""

from __future__ import annotations

from datetime import timedelta

from services.core.db import Connection, fetch_all
from services.load_memory.section import Section, entry, section
from services.load_memory.turn import SQL, Turn
from services.memory.speaker import speaker

NAME, SHARED, TRUSTED = "recent", False, False
ABOUT = "The latest messages of this thread, the oldest first."
MOST_UNCOVERED = 60  # messages that no summary covers; a reflection takes in as many


def budget(turn: Turn) -> int:
    """Tokens."""
    return turn.settings.recent_tokens


async def load(turn: Turn, conn: Connection) -> Section:
    """Rows younger than the retention; the summary carries the older ones."""
    args = {
        "thread_id": turn.thread_id,
        "since": turn.now - timedelta(days=turn.settings.retention_days),
        "mail_ids": turn.mail_ids,
        "limit": turn.settings.recent_messages,
        "most": MOST_UNCOVERED,
        **turn.of_author,
    }
    rows = await fetch_all(conn, SQL.recent, args)
    return section(
        (
            entry(
                f"{row['at']:%Y-%m-%d %H:%M} {speaker(row, **turn.of_author)}:\n{row['text']}\n",
                role=row["role"],
                text=row["text"],
                at=row["at"].isoformat(),
            )
            for row in rows
        ),
        newest_first=True,
    )
