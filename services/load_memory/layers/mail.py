"""The new mail, or mails, that this turn answers."""

from __future__ import annotations

from typing import Any

from services.core.db import Connection
from services.load_memory.section import Section, entry, section
from services.load_memory.turn import MailToAnswer, Turn

NAME, SHARED, TRUSTED = "mail", False, False
ABOUT = "What you answer, the newest mail last."
SIGNATURE = "Below the new text, taken for a signature:"
QUOTED = "Below the new text, taken for a quote of an older mail; it is not what the customer writes now:"


_ROLES = {
    "file": "Attachment",
    "picture": "Picture in the text",
    "invitation": "Invitation",
    "contact": "Contact card",
    "signature": "Digital signature",
}
_SIGNED = {"signed_smime": "S/MIME", "signed_pgp": "PGP"}


def budget(turn: Turn) -> int:
    """Tokens: the mail is what the turn is about, so it has room."""
    return 4 * turn.settings.recent_tokens


async def load(turn: Turn, conn: Connection) -> Section:
    """New text and what is attached, oldest first; where a burst exceeds the budget, the newest mails are kept."""
    return section(
        (
            entry(
                f"From: {mail.author_name} <{mail.author_addr}>\nDate: {mail.received_at:%Y-%m-%d %H:%M}\n"
                f"Subject: {mail.subject}\n{_signed(mail.flags)}\n{mail.text}\n"
                f"{_beside(mail)}{_attached(mail.attachments)}",
                message_id=mail.message_id,
                mail_id=str(mail.mail_id),
                from_name=mail.author_name,
                from_address=mail.author_addr,
                subject=mail.subject,
                text=mail.text,
                at=mail.received_at.isoformat(),
            )
            for mail in reversed(turn.mails)
        ),
        newest_first=True,
    )


def _beside(mail: MailToAnswer) -> str:
    """What stands next to a few new words: the signature and the quote, each said to be what it was taken for."""
    signature, quoted = mail.signature.strip(), mail.quoted.strip()
    return "".join(
        f"\n{heading}\n{marked(text)}\n" for heading, text in ((SIGNATURE, signature), (QUOTED, quoted)) if text
    )


def marked(text: str) -> str:
    """A text with a mark before each line, so that none of it reads as the new text."""
    return "\n".join(f"> {line}".rstrip() for line in text.split("\n"))


def _attached(attachments: list[dict[str, Any]]) -> str:
    """What is attached: name, type and size of each, and its words, or why there are none."""
    return "".join(
        f"\n{_ROLES[one.get('role', 'file')]} {one['filename'] or 'without a name'}{_said(one)}\n"
        for one in attachments
    )


def _signed(flags: list[str]) -> str:
    """That it bears a signature, which nobody has checked: it proves nothing about the author."""
    kind = next((_SIGNED[one] for one in flags if one in _SIGNED), "")
    return f"Signed: with {kind}; the signature was not checked\n" if kind else ""


def _said(one: dict[str, Any]) -> str:
    kind = f" ({one['content_type']}, {one['size']} bytes)"
    if one["unread"]:
        return f"{kind}: not read, {one['unread']}"
    if not one["text"]:
        return kind
    return f"{kind}{', its beginning' if one['cut'] else ''}:\n{one['text']}"
