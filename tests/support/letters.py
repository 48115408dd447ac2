"""Mails for tests, written by hand and small."""

from __future__ import annotations

from datetime import UTC, datetime
from email.message import EmailMessage
from email.utils import format_datetime


def letter(
    text: str,
    *,
    sender: str = "John Miller <john@acme.example>",
    to: str = "support@ourcompany.example",
    subject: str = "A question",
    message_id: str = "<m1@acme.example>",
    in_reply_to: str = "",
    date: datetime = datetime(2026, 3, 2, 9, 0, tzinfo=UTC),
    **headers: str,
) -> bytes:
    """The bytes of a mail; underscores in further header names become hyphens."""
    mail = EmailMessage()
    mail["From"], mail["To"], mail["Subject"], mail["Message-ID"] = sender, to, subject, message_id
    mail["Date"] = format_datetime(date)
    if in_reply_to:
        mail["In-Reply-To"] = mail["References"] = in_reply_to
    for name, value in headers.items():
        mail[name.replace("_", "-")] = value
    mail.set_content(text)
    return mail.as_bytes()
