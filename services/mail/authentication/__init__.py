"""Is the From address to be believed? Our own server's word, else SPF, DKIM and DMARC computed here.

Blocking, for a thread: all look-ups go to the resolver that is passed in, nothing is patched, so any
number may run at once. Never raises on hostile input; what cannot be told is `unverified`.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from datetime import datetime

from services.core.mailbox import MailboxKey
from services.mail.authentication.arc_check import seal_of
from services.mail.authentication.doubts import (
    Copy,
    as_sealed,
    as_signed,
    fallen,
    repeated_header,
    signed_digests,
    with_coverage,
)
from services.mail.authentication.results import (
    Authentication,
    Budgeted,
    Dkim,
    Dmarc,
    DnsFailed,
    DnsResolver,
    Level,
    Peer,
    RecordType,
    Resolver,
    Spf,
)
from services.mail.authentication.sender_checks import (
    aligned,
    aligned_by,
    check_dkim,
    check_dmarc,
    check_spf,
    domain_of,
)
from services.mail.authentication.trusted_results import results_of
from services.mail.message import ParsedMail

__all__ = [
    "Authentication", "Dkim", "Dmarc", "DnsFailed", "DnsResolver", "Level", "Peer", "RecordType", "Resolver", "Spf",
    "authenticate", "signed_digests", "with_coverage",
]  # fmt: skip


def authenticate(
    raw: bytes,
    mail: ParsedMail,
    peer: Peer | None,
    resolver: Resolver,
    trusted_authserv_ids: Collection[str] = (),
    trusted_sealers: Collection[str] = (),
    *,
    stripping_ids: Collection[str] = (),
    own_addresses: Collection[MailboxKey] = (),
    arrived: datetime | None = None,
) -> Authentication:
    """How far the one From address of a mail is to be believed.

    `peer` is who handed the mail to us, None where that is not known (IMAP): then SPF is not told.
    `trusted_authserv_ids` are the names under which our own servers write Authentication-Results, `stripping_ids` those
    of them that remove results which others wrote in their name; `trusted_sealers` the domains of forwarders whose ARC
    seals are believed where a forwarded mail no longer authenticates by itself. `own_addresses` are our inboxes (none:
    not looked at), `arrived` is when the mail came (None: imported, as old as it is).
    """
    author = domain_of(mail.author.addr) if mail.author else ""
    if not author:
        return Authentication("unverified", "", (f"{len(mail.from_)} addresses in From: nobody to authenticate",))
    budget = Budgeted(resolver)
    results = results_of(mail, trusted_authserv_ids, stripping_ids)
    spf, dkim, dmarc, about = results.spf, results.dkim, results.dmarc, results.dmarc.domain
    told = about == author or spf != Spf() or bool(dkim)
    if dmarc.result == "none" or about != author:
        spf, dkim, dmarc = _computed(raw, author, peer, budget, spf, dkim)
    elif dmarc.result == "fail" and not dmarc.policy:
        dmarc = replace(dmarc, policy=check_dmarc(author, Spf(), (), budget).policy)
    judged = _judge(author, spf, dkim, dmarc)
    if judged.level == "verified" and results.contradicted:
        judged = fallen(judged, f"our own server's results contradict each other: {', '.join(results.contradicted)}")
    copy = Copy(mail, raw, own_addresses, arrived)
    judged = as_signed(judged, author, copy, peer, budget)
    if judged.level == "verified":
        judged = replace(judged, signatures=signed_digests(raw, author))
    elif seal := seal_of(raw, author, budget, trusted_sealers):
        judged = as_sealed(judged, seal, copy)
    if judged.level == "verified" and (name := repeated_header(mail)):
        return fallen(judged, f"it has more than one {name} header")
    return replace(judged, method="authentication-results") if told and judged.method not in ("", "arc") else judged


def _computed(
    raw: bytes, author: str, peer: Peer | None, resolver: Resolver, spf: Spf, dkim: tuple[Dkim, ...]
) -> tuple[Spf, tuple[Dkim, ...], Dmarc]:
    """What our server did not tell, found out.

    The policy is asked for first, and remembered by the resolver, before a sender can use up the look-ups.
    """
    check_dmarc(author, Spf(), (), resolver)
    dkim = dkim or check_dkim(raw, resolver)
    spf = spf if spf != Spf() else check_spf(peer, resolver)
    return spf, dkim, check_dmarc(author, spf, dkim, resolver)


def _judge(author: str, spf: Spf, dkim: tuple[Dkim, ...], dmarc: Dmarc) -> Authentication:
    """The level that the three results come to. An outage never makes anybody `failed`, nor `verified`."""

    def result(level: Level, method: str, reason: str) -> Authentication:
        return Authentication(level, method, (reason, *_details(spf, dkim)), spf, dkim, dmarc)  # type: ignore[arg-type]

    if dmarc.result == "pass":
        return result("verified", "dmarc", f"DMARC of {dmarc.domain} passes")
    if dmarc.result == "fail" and dmarc.policy in ("quarantine", "reject"):
        return result("failed", "dmarc", f"DMARC of {dmarc.domain} fails, its policy is {dmarc.policy}")
    if dmarc.result in ("fail", "temperror", "permerror"):
        return result("unverified", "", f"DMARC of {dmarc.domain or author}: {dmarc.result}")
    if by := aligned_by(author, spf, dkim):
        return result("verified", by[0], f"{by[0].upper()} passes for {author}, which publishes no DMARC policy")
    if spf.result == "fail" and aligned(spf.domain, author, "r"):
        return result("failed", "spf", f"{spf.domain} does not send from there (SPF)")
    return result("unverified", "", f"nothing authenticates {author}")


def _details(spf: Spf, dkim: tuple[Dkim, ...]) -> tuple[str, ...]:
    signatures = (f"dkim={d.result} ({d.domain}{': ' + d.why if d.why else ''})" for d in dkim)
    return (f"spf={spf.result} ({spf.domain})", *signatures) if spf.domain else tuple(signatures)
