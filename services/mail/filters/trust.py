"""Mail that a person should decide on: spam, failed or unproven senders, what cannot be read, who asks for a person."""

from __future__ import annotations

import re

from services.mail.filters.verdict import FilterContext, Verdict
from services.mail.message import ParsedMail
from services.mail.part_roles import seal_of

_MARKS = (
    ("X-Spam-Flag", re.compile(r"^\s*yes", re.I)),
    ("X-Spam-Status", re.compile(r"^\s*yes", re.I)),
    ("X-Spam", re.compile(r"^\s*(yes|true)", re.I)),
    ("X-Rspamd-Action", re.compile(r"reject|add header|rewrite subject|quarantine", re.I)),
    ("X-SES-Spam-Verdict", re.compile(r"fail", re.I)),
    ("X-SES-Virus-Verdict", re.compile(r"fail", re.I)),
    ("X-Mailgun-SFlag", re.compile(r"^\s*yes", re.I)),
    ("X-MS-Exchange-Organization-SCL", re.compile(r"^\s*[5-9]")),
    ("X-Virus-Status", re.compile(r"infected|^\s*yes", re.I)),
)


def spam(mail: ParsedMail, ctx: FilterContext) -> Verdict | None:
    """Park what carries a spam or virus mark.

    Mail that the receiving server marked as spam.
    """
    for name, mark in _MARKS:
        if any(mark.search(value) for value in mail.all(name)):
            return Verdict("park", f"marked as spam ({name})", "spam")
    return None


def failed_identity(mail: ParsedMail, ctx: FilterContext) -> Verdict | None:
    """To a human: a `failed` identity, or not exactly one From address.

    Senders whose authentication failed, or who cannot be told at all: a person decides, no machine answers.
    """
    if ctx.identity == "failed":
        return Verdict("human", "the sender's domain says that this mail is not its own", "failed_identity")
    if mail.author is None:
        return Verdict("human", f"{len(mail.from_)} addresses in From: nobody to answer for certain", "failed_identity")
    return None


def unproven_sender(mail: ParsedMail, ctx: FilterContext) -> Verdict | None:
    """To a human: an author who is not proven, where the inbox says so (`unproven = "human"`).

    Senders whom nothing proves, in an inbox where a person answers those.
    """
    if ctx.unproven_for_person and not ctx.proven:
        return Verdict("human", "nothing proves that the sender is who they say", "unproven_sender")
    return None


_CLOSED = {
    "encrypted_smime": "it is encrypted (S/MIME)",
    "encrypted_pgp": "it is encrypted (PGP)",
    "opaque_smime": "it is signed in a form that has to be opened first (S/MIME)",
}


def unreadable(mail: ParsedMail, ctx: FilterContext) -> Verdict | None:
    """To a human: what is encrypted, and what says nothing in subject, body or attachment.

    Mail that the agent cannot read: encrypted, wholly or in an attachment, or without any text.
    """
    if closed := _CLOSED.get(seal_of(mail)):
        return Verdict("human", closed, "unreadable")
    if ctx.encrypted_attachment:
        return Verdict("human", f"its attachment {ctx.encrypted_attachment} is encrypted", "unreadable")
    if not (mail.text.strip() or mail.subject.strip() or mail.attachments):
        return Verdict("human", "it is empty", "unreadable")
    return None


WORD = "human"


def asks_for_person(mail: ParsedMail, ctx: FilterContext) -> Verdict | None:
    """To a human where the first line of what they wrote is the word alone.

    The word that our replies offer (`send.disclosure`): who answers it gets a person, whatever the model thinks.
    """
    first_line = (mail.reply.new or mail.text).strip().partition("\n")[0]
    if re.findall(r"\w+", first_line.casefold()) == [WORD]:
        return Verdict("human", "they ask for a person", "asks_for_person")
    return None
