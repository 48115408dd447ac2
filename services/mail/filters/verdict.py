"""The nouns of judging: what a filter says, and what it may know."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Literal

from schemas.events.mail import PROVEN_LEVELS
from services.mail.content_types import seal_of
from services.mail.message import ParsedMail
from services.mail.reports import Report

VerdictKind = Literal["answer", "park", "human", "bounce", "complaint", "duplicate", "loop"]
IdentityLevel = Literal["verified", "unverified", "failed", "vouched"]


@dataclass(frozen=True, slots=True)
class Verdict:
    """What becomes of a mail, why (one sentence for a person), and which filter said so."""

    kind: VerdictKind
    reason: str
    filter: str


@dataclass(frozen=True, slots=True)
class Limits:
    """How much one sender, one company, one thread and everybody together may cause; counts are mails in `window` (the
    caller's).

    Sender and everybody are those of the mail's own proof: proven senders, or the unproven ones of its inbox.
    `replies_a_day` bounds our own replies to one address over all threads: a robot that opens a new one each time.
    """

    per_sender: int = 20
    per_company: int = 200
    per_thread: int = 10
    everybody: int = 2000
    identical_bodies: int = 3
    replies_without_human: int = 10
    replies_a_day: int = 30


@dataclass(frozen=True, slots=True)
class FilterContext:
    """What I/O found out before judging; the filters themselves ask nobody.

    `own_addresses` are casefolded; the counts are of earlier mails in the current window, of senders who are believed
    as far as this one, and do not include this one. `report` is what `reports.read_report` made of the raw mail, and
    `report_names_ours` whether its original Message-ID is one that we sent, `report_proven` whether something that
    strangers cannot forge says that it really is about that mail. `alert` says what the mail has to do with
    an alert to a colleague: it answers one, or reports that one came back. `unproven_for_person`: a person answers
    whoever is not proven in this inbox. `unsubscribes`: its subject gives back the token of a mail that we began.
    `unread` holds where the mail answers one of ours sooner than anyone reads ours, `within_seconds` where sooner than
    anyone types it, `seen_before` where its author sent the same text earlier.
    """

    own_addresses: frozenset[str] = frozenset()
    envelope_from: str | None = None  # None where the source does not tell; "" for the null return path
    identity: IdentityLevel = "unverified"
    unproven_for_person: bool = False
    report: Report | None = None
    report_names_ours: bool = False
    report_proven: bool = False
    message_id_is_ours: bool = False
    alert: Literal["", "answered", "returned"] = ""
    unread: bool = False
    within_seconds: bool = False
    seen_before: bool = False
    duplicate_of: str = ""
    unsubscribes: bool = False
    encrypted_attachment: str = ""
    identical_bodies: int = 0
    from_sender: int = 0
    from_company: int = 0
    in_thread: int = 0
    in_all: int = 0
    automatic_replies: int = 0
    replies_in_a_day: int = 0
    limits: Limits = field(default_factory=Limits)

    @property
    def proven(self) -> bool:
        """Whether the author is who they say."""
        return self.identity in PROVEN_LEVELS


# Mail that a person should decide on: spam, failed or unproven senders, what cannot be read, who asks for a person.
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
