"""Mail that the agent cannot read: encrypted, wholly or in an attachment, or without any text."""

from __future__ import annotations

from services.core.mail.filters.verdict import FilterContext, Verdict
from services.core.mail.message import ParsedMail

_ENCRYPTED = ("multipart/encrypted", "application/pkcs7-mime", "application/x-pkcs7-mime")


def unreadable(mail: ParsedMail, ctx: FilterContext) -> Verdict | None:
    """To a human: what is encrypted, and what says nothing in subject, body or attachment."""
    if (
        mail.header("Content-Type").strip().casefold().startswith(_ENCRYPTED)
        or "-----BEGIN PGP MESSAGE-----" in mail.text
    ):
        return Verdict("human", "it is encrypted", "unreadable")
    if ctx.encrypted_attachment:
        return Verdict("human", f"its attachment {ctx.encrypted_attachment} is encrypted", "unreadable")
    if not (mail.text.strip() or mail.subject.strip() or mail.attachments):
        return Verdict("human", "it is empty", "unreadable")
    return None
