"""What speaks against a mail whose From is proven: that it is not, as it stands here, what its author sent to us now.

A DKIM signature proves that its domain sent what it covers, at some time, to somebody. Whoever has such a mail can send
it on: to others, later, with other headers above it. So of a mail that a signature alone verifies only what the
signature covers is believed, and only where it was signed lately and is addressed to us. Mail that its own server hands
over (SPF) is not such a copy. A header that may stand once and stands twice is read otherwise by every program.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from services.core.mailbox import MailboxKey, ascii_lower
from services.mail import headers
from services.mail.authentication.arc_check import Seal
from services.mail.authentication.results import Authentication, Dkim, Peer, Resolver, Signature, Spf
from services.mail.authentication.sender_checks import MAX_SIGNATURES, aligned, check_spf, has_unreadable, signatures
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


# A Content-Type that no signature covers: anybody may have written it, and so chosen how the signed body is read.
#
# Gmail signs none. So it is believed where the body itself says the same: a multipart body begins with its delimiter, a
# text body with none, and the charset is one in which ASCII is ASCII.
LOOKED_AT = 65_536  # bytes of the body
_BODY = re.compile(rb"\r?\n\r?\n")
_NOT_ASCII = re.compile(r"utf-?(?:7|16|32)|ucs|hz|ebcdic|cp0?(?:37|500|875|1026|1140)\b", re.IGNORECASE)
_TEXTS = ("text/plain", "text/html")


def unsigned_type_doubt(mail: ParsedMail, raw: bytes) -> str:
    """Why the uncovered Content-Type may not be the author's; "" where it is what the body shows."""
    kind, given = headers.parse_parameters(mail.header("Content-Type") or "text/plain")
    delimiter = _first_delimiter(raw)
    if kind.startswith("multipart/"):
        said = given.get("boundary", "").encode("utf-8", "replace")
        return (
            ""
            if said and delimiter == b"--" + said
            else "its unsigned Content-Type names another boundary than its body"
        )
    if kind not in _TEXTS:
        return f"no signature covers its Content-Type, {kind[:60]}"
    if _NOT_ASCII.search(given.get("charset", "")):
        return "no signature covers its charset"
    return (
        "its unsigned Content-Type hides the parts of its body" if delimiter and _is_multipart(raw, delimiter) else ""
    )


def _first_delimiter(raw: bytes) -> bytes:
    """The first line of the body that could be a delimiter (RFC 2046, 5.1.1), or b""."""
    start = _BODY.search(raw)
    lines = raw[start.end() : start.end() + LOOKED_AT].splitlines() if start else []
    return next((line.rstrip() for line in lines if line.startswith(b"--") and len(line.rstrip()) > 2), b"")


def _is_multipart(raw: bytes, delimiter: bytes) -> bool:
    """Whether the body ends its last part, as a body of parts does, with a header below the first delimiter."""
    begins = raw.find(b"\n" + delimiter)
    after = raw[begins + len(delimiter) + 1 : begins + len(delimiter) + 200].lstrip(b" \t")
    closed = b"\n" + delimiter + b"--" in raw
    return closed and bool(re.match(rb"\r?\n(?:content-|\r?\n)", after, re.IGNORECASE))


# A mail that only a DKIM signature verifies: believed as far as the signature goes.


def fallen(judged: Authentication, why: str) -> Authentication:
    """The judgement without its proof."""
    return replace(judged, level="unverified", method="", reasons=(why, *judged.reasons))


def as_signed(judged: Authentication, author: str, copy: Copy, peer: Peer | None, resolver: Resolver) -> Authentication:
    """A verified mail as far as it is more than a copy of what its author once signed; any other unchanged.

    Where we checked ourselves, one signature that holds and leaves no doubt is enough. Where our server told us that
    one held, it is not known which, so none of the author's organization may leave a doubt, nor be unreadable here.
    """
    if judged.level != "verified" or _is_handed_over(judged, author, peer, resolver):
        return judged
    held = _nearest([d.signature for d in judged.dkim if d.result == "pass" and d.signature], author)
    asked = held or aligned_signatures(copy.raw, author)
    if len(asked) > MAX_SIGNATURES:
        return fallen(judged, f"more than {MAX_SIGNATURES} signatures: which of them held is not known")
    if not held and has_unreadable(copy.raw):
        return fallen(judged, "it has a signature that cannot be read: which of them held is not known")
    doubts = {one: signature_doubt(one, copy) for one in asked}
    good = [one for one, doubt in doubts.items() if not doubt]
    if asked and (not good or (not held and len(good) < len(doubts))):
        return fallen(judged, next(doubt for doubt in doubts.values() if doubt))
    unsigned = [unsigned_names(one, copy.mail) for one in good]
    loose = frozenset.intersection(*unsigned) if held else frozenset[str]().union(*unsigned)
    return replace(judged, unsigned=tuple(sorted(loose)))


def as_sealed(judged: Authentication, seal: Seal, copy: Copy) -> Authentication:
    """A mail that a trusted forwarder changed and sealed, as far as its seal reaches and as long as it is new."""
    if doubt := signature_doubt(seal.signature, copy, sealed=True):
        return replace(judged, reasons=(f"the seal of {seal.by}: {doubt}", *judged.reasons))
    return replace(
        judged,
        level="verified",
        method="arc",
        reasons=(f"{seal.by} sealed that DMARC passed before it forwarded the mail (ARC)", *judged.reasons),
        unsigned=tuple(sorted(unsigned_names(seal.signature, copy.mail))),
        signatures=(seal.signature.digest,) if seal.signature.digest else (),
    )


def aligned_signatures(raw: bytes, author: str) -> list[Signature]:
    """The signatures of the author's organization, checked or not."""
    return [one for one in signatures(raw) if aligned(one.domain, author, "r")]


def signed_digests(raw: bytes, author: str) -> tuple[str, ...]:
    """What names a mail whose author is proven among its copies: a digest for each signature of their organization."""
    return tuple(sorted({one.digest for one in aligned_signatures(raw, author)} - {""}))


def with_coverage(told: Collection[Dkim], raw: bytes) -> tuple[Dkim, ...]:
    """Results of signatures, each with what it covers: of several of one domain, told by our server, the least."""
    stand = sorted(signatures(raw), key=lambda one: len(one.covers), reverse=True)
    by_domain = {one.domain: one for one in stand}
    return tuple(one if one.signature else replace(one, signature=by_domain.get(one.domain)) for one in told)


def _nearest(found: list[Signature], author: str) -> list[Signature]:
    """The signatures of the author's very domain, else those of its organization."""
    return [one for one in found if one.domain == author] or [one for one in found if aligned(one.domain, author, "r")]


def _is_handed_over(judged: Authentication, author: str, peer: Peer | None, resolver: Resolver) -> bool:
    """Whether a server of the author's domain handed the mail over (SPF): then no copy of it came to us."""
    spf = judged.spf if judged.spf != Spf() else check_spf(peer, resolver)
    return spf.result == "pass" and aligned(spf.domain, author, "r")
