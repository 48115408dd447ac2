"""The new mail, or mails, that this turn answers."""

from __future__ import annotations

from typing import Any

from services.core.db import Connection
from services.load_memory.section import Section, entry, section
from services.load_memory.turn import Turn

NAME, SHARED, TRUSTED = "mail", False, False


def budget(turn: Turn) -> int:
    """Tokens: the mail is what the turn is about, so it has room."""
    return 4 * turn.settings.recent_tokens


async def load(turn: Turn, conn: Connection) -> Section:
    """New text and what is attached, oldest first; where a burst exceeds the budget, the newest mails are kept."""
    return section(
        (
            entry(
                f"From: {mail['author_name']} <{mail['author_addr']}>\nDate: {mail['received_at']:%Y-%m-%d %H:%M}\n"
                f"Subject: {mail['subject']}\n\n{mail['text']}\n{_attached(mail['attachments'])}",
                message_id=mail["message_id"],
                mail_id=str(mail["mail_id"]),
                from_name=mail["author_name"],
                from_address=mail["author_addr"],
                subject=mail["subject"],
                text=mail["text"],
                at=mail["received_at"].isoformat(),
            )
            for mail in reversed(turn.mails)
        ),
        newest_first=True,
    )


def _attached(attachments: list[dict[str, Any]]) -> str:
    """What is attached: name, type and size of each, and its words, or why there are none."""
    return "".join(f"\nAttachment {one['filename'] or 'without a name'}{_said(one)}\n" for one in attachments)


def _said(one: dict[str, Any]) -> str:
    kind = f" ({one['content_type']}, {one['size']} bytes)"
    if one["unread"]:
        return f"{kind}: not read, {one['unread']}"
    if not one["text"]:
        return kind
    return f"{kind}{', its beginning' if one['cut'] else ''}:\n{one['text']}"
