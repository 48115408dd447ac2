"""A mail that only a DKIM signature verifies: believed as far as the signature goes (see `doubts`)."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from services.mail.authentication.arc_check import Seal
from services.mail.authentication.dkim_check import MAX_SIGNATURES, has_unreadable, signatures
from services.mail.authentication.domains import aligned
from services.mail.authentication.doubts import Copy, signature_doubt, unsigned_names
from services.mail.authentication.resolver import Resolver
from services.mail.authentication.results import Authentication, Dkim, Peer, Signature, Spf
from services.mail.authentication.spf_check import check_spf


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
