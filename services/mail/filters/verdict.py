"""The nouns of judging: what a filter says, and what it may know."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from schemas.events.mail import PROVEN_LEVELS
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
