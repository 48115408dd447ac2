"""Mail that the agent cannot read: encrypted, wholly or in an attachment, or without any text."""

from __future__ import annotations

from services.mail.filters.verdict import FilterContext, Verdict
from services.mail.message import ParsedMail
from services.mail.part_roles import seal_of

_CLOSED = {
    "encrypted_smime": "it is encrypted (S/MIME)",
    "encrypted_pgp": "it is encrypted (PGP)",
    "opaque_smime": "it is signed in a form that has to be opened first (S/MIME)",
}


def unreadable(mail: ParsedMail, ctx: FilterContext) -> Verdict | None:
    """To a human: what is encrypted, and what says nothing in subject, body or attachment."""
    if closed := _CLOSED.get(seal_of(mail)):
        return Verdict("human", closed, "unreadable")
    if ctx.encrypted_attachment:
        return Verdict("human", f"its attachment {ctx.encrypted_attachment} is encrypted", "unreadable")
    if not (mail.text.strip() or mail.subject.strip() or mail.attachments):
        return Verdict("human", "it is empty", "unreadable")
    return None
