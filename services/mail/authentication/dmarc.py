"""DMARC (RFC 7489): find the policy, compare the domains.

authheaders is not asked: it drops hyphens from domains, knows only one signature, and reads
the suffix list again each time.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal, cast

from services.mail.authentication.domains import Mode, aligned, organizational
from services.mail.authentication.resolver import DnsFailed, Resolver
from services.mail.authentication.results import Dkim, Dmarc, Policy, Spf

_VERSION = re.compile(r"^v\s*=\s*DMARC1\s*(;|$)")
Means = Literal["dkim", "spf"]
_POLICIES = ("none", "quarantine", "reject")
_LOWER: dict[Policy, Policy] = {"reject": "quarantine", "quarantine": "none", "none": "none"}
_PCT_ZERO = re.compile(r"0{1,3}\Z")  # what is no number from 0 to 100 is not there (6.3)


def check_dmarc(author: str, spf: Spf, dkim: Sequence[Dkim], resolver: Resolver) -> Dmarc:
    """The DMARC result for an author's domain (A-labels); `none` where no usable record is published.

    A check of the author's own domain that met an outage might have passed: then the result is `temperror`.
    """
    try:
        where, record = published(author, resolver)
    except DnsFailed:
        return Dmarc("temperror", domain=author)
    if not record:
        return Dmarc("none", domain="")
    modes = _mode(record, "adkim"), _mode(record, "aspf")
    policy = _policy(record, subdomain=where != author)
    if by := _aligned(author, spf, dkim, *modes):
        return Dmarc("pass", policy, where, by)
    unsure = bool(_aligned(author, spf, dkim, *modes, result="temperror"))
    return Dmarc("temperror" if unsure and policy != "none" else "fail", policy, where)


def aligned_by(author: str, spf: Spf, dkim: Sequence[Dkim]) -> tuple[Means, ...]:
    """What authenticates the author's domain where there is no DMARC record: relaxed alignment."""
    return _aligned(author, spf, dkim, "r", "r")


def _aligned(
    author: str, spf: Spf, dkim: Sequence[Dkim], adkim: Mode, aspf: Mode, result: str = "pass"
) -> tuple[Means, ...]:
    """Which checks came to `result` for a domain that speaks for the author's."""
    by: list[Means] = []
    if any(d.result == result and aligned(d.domain, author, adkim) for d in dkim):
        by.append("dkim")
    if spf.result == result and aligned(spf.domain, author, aspf):
        by.append("spf")
    return tuple(by)


def published(author: str, resolver: Resolver) -> tuple[str, dict[str, str]]:
    """(domain, tags) of the author's record or its organization's; two records count as none (6.6.3).

    Raises DnsFailed.
    """
    for domain in dict.fromkeys((author, organizational(author))):
        found = [t for t in resolver.lookup(f"_dmarc.{domain}", "TXT") if _VERSION.match(t)] if domain else []
        if found:
            tags = _tags(found[0]) if len(found) == 1 else {}
            return domain, tags if tags.get("p") in _POLICIES or "rua" in tags else {}
    return "", {}


def _tags(record: str) -> dict[str, str]:
    pairs = (part.partition("=") for part in record.split(";"))
    return {name.strip().lower(): value.strip().lower() for name, _, value in pairs}


def _mode(record: dict[str, str], tag: str) -> Mode:
    return "s" if record.get(tag) == "s" else "r"


def _policy(record: dict[str, str], subdomain: bool) -> Policy:
    """What the owner asks for. Sampled policies are taken whole; where `pct` samples nothing, the next lower one holds.

    So says RFC 7489, 6.6.4: what a `reject` is not applied to is quarantined, what a `quarantine` is not, is let be.
    """
    wanted = record.get("p", "none")
    wanted = record.get("sp", wanted) if subdomain else wanted
    policy = cast(Policy, wanted if wanted in _POLICIES else "none")
    return _LOWER[policy] if _PCT_ZERO.match(record.get("pct", "")) else policy
