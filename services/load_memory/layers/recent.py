"""What the author has seen of the thread's recent messages, within a message and a token budget, the newest kept.

Anybody may put the author into Cc: a message of somebody of another company says so (`STRANGER`), and a draft that was
written with it in view breaks a floor.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

from services.core.approval_level import STRANGER
from services.core.db import Connection, rows_as
from services.load_memory.section import Section, entry, section
from services.load_memory.turn import SQL, Turn
from services.mail.sender import sender_of
from services.memory.speaker import Spoken, speaker

NAME, SHARED, TRUSTED = "recent", False, False
ABOUT = "The latest messages of this thread, the oldest first."
MOST_UNCOVERED = 60  # messages that no summary covers; a reflection takes in as many


@dataclass(frozen=True, slots=True)
class Message(Spoken):
    """A message of the thread, in the `version` of it in which it came; `address` is its author's, "" for ours."""

    version: int
    text: str
    at: datetime
    address: str


def budget(turn: Turn) -> int:
    """Tokens."""
    return turn.settings.recent_tokens


async def load(turn: Turn, conn: Connection) -> Section:
    """Rows younger than the retention; the summary carries the older ones."""
    periods = turn.app.settings.retention.periods
    args = {
        "thread_id": turn.thread_id,
        "since": periods.messages_since(turn.now, turn.settings.retention_days),
        "mail_ids": turn.mail_ids,
        "limit": turn.settings.recent_messages,
        "most": MOST_UNCOVERED,
        **turn.of_author,
    }
    said = await rows_as(conn, Message, SQL.recent, args)
    companies = {sender_of(one) for one in turn.of_author["addrs"]}
    return section(
        (
            entry(
                f"{one.at:%Y-%m-%d %H:%M} {speaker(one, **turn.of_author)}:\n{one.text}\n",
                role=one.role,
                text=one.text,
                at=one.at.isoformat(),
                **({STRANGER: True} if _is_strangers(one, turn, companies) else {}),
            )
            for one in said
        ),
        newest_first=True,
    )


def _is_strangers(message: Message, turn: Turn, companies: Collection[str]) -> bool:
    """Whether another customer wrote it who is not of the author's company."""
    if message.role != "customer" or message.author_id in turn.of_author["author_ids"]:
        return False
    return sender_of(message.address) not in companies
