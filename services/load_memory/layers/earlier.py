"""What the participant's other threads were about: their summaries, newest first."""

from __future__ import annotations

from services.core.db import Connection, fetch_all
from services.load_memory.repeats import sentences
from services.load_memory.section import Section, entry_of, room_for, section
from services.load_memory.turn import SQL, Turn

NAME, SHARED, TRUSTED = "earlier", False, False
ABOUT = "The author's other threads, the newest first: day, subject, state and summary."
HEAD_TOKENS = 60  # of a day, a subject and a state


def budget(turn: Turn) -> int:
    """Tokens: so many summaries have room in any script, each with a line's worth for what it is of."""
    return turn.settings.earlier_threads * (room_for(turn.app.settings.learning.summary_words) + HEAD_TOKENS)


async def load(turn: Turn, conn: Connection) -> Section:
    """Nothing for an author who is not authenticated."""
    if turn.participant_id is None:
        return Section()
    args = {
        "workspace": turn.workspace,
        "participant_id": turn.participant_id,
        "thread_id": turn.thread_id,
        "limit": turn.settings.earlier_threads,
    }
    rows = await fetch_all(conn, SQL.earlier_summaries, args)
    return section(
        entry_of(
            sentences(row["text"]),
            f"{row['updated_at']:%Y-%m-%d} «{row['subject']}» ({row['state']}): ",
            above="as above",
            subject=row["subject"],
            state=row["state"],
            text=row["text"],
            at=row["updated_at"].isoformat(),
        )
        for row in rows
    )
