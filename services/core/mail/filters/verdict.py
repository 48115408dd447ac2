"""The nouns of judging: what a filter says, and what it may know."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from services.core.mail.reports import Report

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
    """How much one sender, one thread and everybody together may cause; counts are mails in `window` (the caller's).

    `replies_a_day` bounds our own replies to one address over all threads: a robot that opens a new one each time.
    """

    per_sender: int = 20
    per_thread: int = 10
    everybody: int = 2000
    identical_bodies: int = 3
    replies_without_human: int = 10
    replies_a_day: int = 30


@dataclass(frozen=True, slots=True)
class FilterContext:
    """What I/O found out before judging; the filters themselves ask nobody.

    `own_addresses` are casefolded; the counts are of earlier mails in the current window and do not
    include this one. `report` is what `reports.read_report` made of the raw mail, and
    `report_names_ours` whether its original Message-ID is one that we sent. `alert` says what the mail has to do with
    an alert to a colleague: it answers one, or reports that one came back.
    """

    own_addresses: frozenset[str] = frozenset()
    envelope_from: str | None = None  # None where the source does not tell; "" for the null return path
    identity: IdentityLevel = "unverified"
    report: Report | None = None
    report_names_ours: bool = False
    message_id_is_ours: bool = False
    alert: Literal["", "answered", "returned"] = ""
    duplicate_of: str = ""
    encrypted_attachment: str = ""
    identical_bodies: int = 0
    from_sender: int = 0
    in_thread: int = 0
    in_all: int = 0
    automatic_replies: int = 0
    replies_in_a_day: int = 0
    limits: Limits = field(default_factory=Limits)
