"""A report: what a machine told us about a mail, and about whom."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from services.core.mailbox import MailboxKey
from services.mail import charsets, parts
from services.mail.html_text import html_to_text
from services.mail.message import Limits

# Enhanced status codes (RFC 3463) and what they mean for an address: hard, soft or delayed.
#
# A hard bounce suppresses the address for ever, so only what says "this mailbox does not exist or is closed" is hard.
# A full mailbox, a policy, a size limit or a dead route says nothing about the person.
_ENHANCED = re.compile(r"(?<![\d.])([245])\.(\d{1,3})\.(\d{1,3})(?![\d.])")
_BASIC = re.compile(r"(?<![\d.:])([45]\d\d)(?=[ \-:])")
_HARD_SUBJECTS = {
    "1": {"0", "1", "2", "3", "4", "6", "10"},
    "2": {"0", "1"},
    "4": {"4"},
    "5": set[str](),
}
_GONE = re.compile(
    r"(user|recipient|mailbox|account|address|addressee|alias|name)\S{0,80}\s{1,9}(is |was |has been |does |could )?"
    r"(unknown|not (exist|found|known|recognized|listed|be found|a known)|invalid|disabled|unavailable|inactive|closed|"
    r"suspended|rejected|discontinued|unrouteable)"
    r"|(unknown|no such|invalid|non.?existent|bad|unrouteable|undeliverable|not a valid) {1,9}(local |mail ?)?"
    r"(user|recipient|mailbox|account|address|domain|host|person)"
    r"|does(n't| not) (exist|have an? \S{1,80} account|like recipient)|host (or domain name )?not found|no mailbox here"
    r"|not our customer|user not exist|unrouteable|couldn't find any host|no mx",
    re.I,
)
_FOR_NOW = re.compile(
    r"quota|full|exceed|too (large|big|many)|over ?(size|limit)|insufficient|spam|block|black ?list|reputation|policy|"
    r"greylist|temporar|try again|timed? ?out|refused|too long|denied|virus|banned|spf|dkim|dmarc|deferred|loop",
    re.I,
)


def enhanced_code(text: str) -> str:
    """The most telling enhanced code in a text: the first 5.x.x or 4.x.x with detail, else the first, else ""."""
    codes = [m.group(0) for m in _ENHANCED.finditer(text) if m.group(1) != "2"]
    return next((c for c in codes if not c.endswith(".0.0")), codes[0] if codes else "")


def basic_code(text: str) -> str:
    """The first SMTP reply code (RFC 5321, 4xx or 5xx) that stands as one in a text, else ""."""
    found = _BASIC.search(text)
    return found.group(1) if found else ""


def severity(status: str, diagnostic: str, action: str = "") -> Severity:
    """Hard, soft or delayed, from RFC 3464's action, the status code and the words, in that order."""
    if action == "delayed":
        return "delayed"
    if status.startswith("4.") or (not status and basic_code(diagnostic).startswith("4")):
        return "soft"
    subject, _, detail = status[2:].partition(".")
    if status.startswith("5.") and (subject, detail) not in {("0", "0"), ("", "")}:
        return "hard" if detail in _HARD_SUBJECTS.get(subject, ()) and not _says_for_now(diagnostic) else "soft"
    return "hard" if _GONE.search(diagnostic) and not _says_for_now(diagnostic) else "soft"


def _says_for_now(diagnostic: str) -> bool:
    return bool(_FOR_NOW.search(diagnostic)) and not _GONE.search(diagnostic)


Kind = Literal["bounce", "complaint", "receipt", "auto_reply"]
Severity = Literal["hard", "soft", "delayed", ""]


@dataclass(frozen=True, slots=True)
class FailedRecipient:
    """One address that a report names, with what was said about it alone (RFC 3464 section 2.3)."""

    address: str
    status: str = ""  # enhanced status code, "5.1.1"; "" when none was given
    diagnostic: str = ""
    severity: Severity = ""
    original: str = ""  # the address that was written to, where the report says that another one came of it


@dataclass(frozen=True, slots=True)
class Report:
    """One machine-made notice about another mail, as its sender tells it.

    `original_message_id` says which mail it is about and proves nothing; `token` is the report token it gives back.

    `severity` is the worst of its recipients for a bounce and "" for all other kinds.
    """

    kind: Kind
    severity: Severity = ""
    recipients: tuple[FailedRecipient, ...] = ()
    status: str = ""
    diagnostic: str = ""
    original_message_id: str = ""  # without angle brackets, from the returned headers
    reporting_mta: str = ""
    token: str = ""
    doubtful: bool = False  # an automatic reply by few words alone: a person may have written it

    @property
    def addresses(self) -> tuple[str, ...]:
        """The failed (or complaining) addresses alone."""
        return tuple(r.address for r in self.recipients)

    @property
    def named(self) -> tuple[str, ...]:
        """Every address that the report names as failed, each once, those that were written to included."""
        return tuple(dict.fromkeys(one for r in self.recipients for one in (r.address, r.original) if one))

    def fate_of(self, address: str) -> FailedRecipient | None:
        """What the report says about an address, by whichever of its names; None where it says nothing."""
        key = MailboxKey(address)
        return next((r for r in self.recipients if key in (MailboxKey(r.address), MailboxKey(r.original))), None)


# The leaves of a raw message, flattened to text, as reports need them.
#
# Unlike the reading of a customer's mail, a report's machine parts (`message/delivery-status`,
# `message/feedback-report`, returned headers) are wanted as they stand. A returned message is
# one leaf: what is inside it is about another mail. Never raises.
MAX_CHARS_A_LEAF = 200_000
RETURNED_TYPES = ("message/rfc822", "text/rfc822-headers", "message/global", "message/global-headers")
STATUS_TYPES = ("message/delivery-status", "message/global-delivery-status")


@dataclass(frozen=True, slots=True)
class Leaf:
    """One leaf: its type in lower case and its text (decoded; HTML already reduced to text)."""

    content_type: str
    text: str

    @property
    def returned(self) -> bool:
        """Whether the leaf is the returned message, or its headers."""
        return self.content_type in RETURNED_TYPES


def leaves(raw: bytes) -> tuple[Leaf, ...]:
    """The textual leaves of a message in order; a multipart that cannot be split counts as plain text."""
    return tuple(_walk(parts.split(raw, Limits()).root))


def _walk(root: parts.Part) -> Iterator[Leaf]:
    waiting = [root]
    while waiting:
        part = waiting.pop()
        kind = part.content_type
        if kind.startswith("message/"):
            yield Leaf(kind, _text(part))
        elif part.children:
            waiting += reversed(part.children)
        elif kind.startswith(("text/", "multipart/")):
            text = _text(part)
            html = kind == "text/html"
            yield Leaf(kind if kind.startswith("text/") else "text/plain", html_to_text(text).text if html else text)


def _text(part: parts.Part) -> str:
    data = part.content()[: 2 * MAX_CHARS_A_LEAF]
    text = charsets.decode(data, part.parameters.get("charset", ""))[:MAX_CHARS_A_LEAF]
    return text.replace("\r\n", "\n").replace("\r", "\n")
