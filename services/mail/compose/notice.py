"""A mail of the deployment to one of its own people: made by a program, to be answered by nobody (RFC 3834).

Pure: the same `Notice` gives the same bytes on every attempt.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from services.mail.compose import wire
from services.mail.compose.body import html_of, mime_body, safe_text
from services.mail.compose.check import check
from services.mail.compose.links import LinkPolicy
from services.mail.compose.outgoing import Composed, ComposeRefused
from services.mail.compose.sections import Section, html_page
from services.mail.message import Address


@dataclass(frozen=True, slots=True)
class Notice:
    """One notice to one address. `links` are the whole URLs that may stand in the text."""

    message_id: str  # without angle brackets
    sender: Address
    recipient: str
    subject: str
    text: str
    date: datetime
    links: frozenset[str] = frozenset()


def compose_notice(notice: Notice) -> Composed:
    """The finished message. Raises ComposeRefused where it would not be exactly what was meant."""
    recipient = wire.addr_spec(notice.recipient)
    links = LinkPolicy(known=notice.links)
    text = safe_text(notice.text, links)
    headers = [
        ("From", wire.mailbox(notice.sender)),
        ("To", recipient),
        ("Subject", wire.text_value(notice.subject[: wire.MAX_SUBJECT_CHARS], "Subject")),
        ("Date", wire.date_value(notice.date)),
        ("Message-ID", wire.id_list([notice.message_id])),
        ("Auto-Submitted", "auto-generated"),
        ("X-Auto-Response-Suppress", "All"),
    ]
    if not all(value for _, value in headers) or not text.strip():
        raise ComposeRefused("a notice needs an id, a subject and a text")
    head = "".join(f"{name}: {value}\r\n" for name, value in headers).encode("utf-8")
    raw = head + mime_body(text, html_page([Section("words", text, html_of(text, links))]))
    check(raw, headers, recipient)
    sender = wire.addr_spec(notice.sender.addr)
    utf8 = not head.isascii() or not (recipient + sender).isascii()
    return Composed(raw, notice.message_id, sender, recipient, text, (), (), utf8)
