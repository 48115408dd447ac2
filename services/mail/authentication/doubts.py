"""What speaks against a mail whose From is proven: that it is not, as it stands here, what its author sent to us now.

A DKIM signature proves that its domain sent what it covers, at some time, to somebody. Whoever has such a mail can send
it on: to others, later, with other headers above it. So of a mail that a signature alone verifies only what the
signature covers is believed, and only where it was signed lately and is addressed to us. Mail that its own server hands
over (SPF) is not such a copy. A header that may stand once and stands twice is read otherwise by every program.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta

from services.mail.authentication.results import Signature
from services.mail.authentication.unsigned_type import unsigned_type_doubt
from services.mail.mailbox import MailboxKey, ascii_lower
from services.mail.message import ParsedMail
from services.mail.tokens import without_token

SINGLE = (  # RFC 5322, 3.6; RFC 2045, 3
    "from", "sender", "reply-to", "to", "cc", "bcc", "subject", "date", "message-id", "in-reply-to", "references",
    "mime-version", "content-type", "content-transfer-encoding", "content-id", "content-description",
    "content-disposition",
)  # fmt: skip
NAMING = ("message-id", "in-reply-to", "references", "reply-to")  # uncovered, they name no other mail, and nobody
LATE = timedelta(days=7)  # between signing and arrival: mail servers try for five days
APART = timedelta(days=1)  # between the Date and the signing of one mail


@dataclass(frozen=True, slots=True)
class Copy:
    """A mail as it came to us: `own` are our addresses (none: not looked at), `arrived` is None for an imported one."""

    mail: ParsedMail
    raw: bytes
    own: Collection[MailboxKey]
    arrived: datetime | None


def repeated_header(mail: ParsedMail) -> str:
    """The first header that may stand once and stands more often, or ""."""
    counts = Counter(ascii_lower(name.strip()) for name, _ in mail.headers)
    return next((name for name in SINGLE if counts[name] > 1), "")


def signature_doubt(signature: Signature, copy: Copy, *, sealed: bool = False) -> str:
    """Why a valid signature of the author's domain does not prove that the mail is theirs and meant for us; or "".

    What a forwarder `sealed` was addressed to it, and is passed on to us by it.
    """
    if signature.partial:
        return "l= leaves a part of the body unsigned"
    if copy.mail.header("Subject") and "subject" not in signature.covers:
        return "its signature does not cover the Subject"
    if "content-type" not in signature.covers and (doubt := unsigned_type_doubt(copy.mail, copy.raw)):
        return doubt
    if copy.own and not sealed and not _is_addressed(signature, copy.mail, copy.own):
        return "no signed To or Cc names one of our addresses"
    return _age_doubt(signature, copy.mail, copy.arrived)


def unsigned_names(signature: Signature, mail: ParsedMail) -> frozenset[str]:
    """The headers that name this mail, others, or whom to answer, and that the signature does not cover."""
    return frozenset(name for name in NAMING if mail.header(name) and name not in signature.covers)


def _is_addressed(signature: Signature, mail: ParsedMail, own: Collection[MailboxKey]) -> bool:
    listed = (*(mail.to if "to" in signature.covers else ()), *(mail.cc if "cc" in signature.covers else ()))
    for one in listed:
        key = MailboxKey(without_token(one.addr))
        if key in own or key.undetailed in own:
            return True
    return False


def _age_doubt(signature: Signature, mail: ParsedMail, arrived: datetime | None) -> str:
    """A signature has to be about as old as the Date, and a mail as its arrival. Imported mail arrives at no time."""
    signed, dated = signature.signed_at, mail.date
    written = dated if "date" in signature.covers else None
    if signed and dated and not _within(signed, dated, LATE if written else APART):
        return f"it was signed on {signed:%Y-%m-%d} and is dated {dated:%Y-%m-%d}"
    if signature.expires_at and dated and signature.expires_at < dated:
        return f"its signature ended on {signature.expires_at:%Y-%m-%d}, before its Date"
    known = signed or written
    if known is None:
        return "nothing signed says when it was written"
    if arrived is not None and not _within(known, arrived, LATE):
        return f"it was signed or written on {known:%Y-%m-%d} and came on {arrived:%Y-%m-%d}"
    return ""


def _within(one: datetime, other: datetime, most: timedelta) -> bool:
    return abs(one - other) <= most
