"""A report: what a machine told us about a mail, and about whom."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from services.mail import charsets, parts
from services.mail.html_text import html_to_text
from services.mail.mailbox import MailboxKey
from services.mail.message import Limits

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
