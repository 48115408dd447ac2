"""SPF (RFC 7208), DKIM (RFC 6376, 8301, 8463) and DMARC (RFC 7489), computed here.

Domains are compared by the organizational domain (RFC 7489 section 3.2), from the public suffix list in a wheel.
"""

from __future__ import annotations

import hashlib
import importlib.resources
import ipaddress
import re
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from functools import cache
from typing import Any, Literal, cast

import dkim
import dkim.util
import spf
from dkim.canonicalization import CanonicalizationPolicy
from publicsuffix2 import PublicSuffixList

from services.core.mailbox import ascii_lower, domain_name
from services.mail.authentication.results import (
    Dkim,
    Dmarc,
    DnsFailed,
    Peer,
    Policy,
    RecordType,
    Resolver,
    Signature,
    Spf,
    SpfResult,
)

Mode = Literal["r", "s"]

TENANTS = ("onmicrosoft.com",)  # suffixes under which anybody gets a domain and sends mail, that the list does not have


@cache
def _suffixes() -> PublicSuffixList:
    """The list that authheaders carries: newer than publicsuffix2's own, and no network is needed."""
    path = importlib.resources.files("authheaders") / "public_suffix_list.txt"
    with path.open(encoding="utf-8") as lines:
        return PublicSuffixList([*lines, *TENANTS], idna=True)


def domain_of(address: str) -> str:
    """The domain of an address in A-labels and lower case, or ""."""
    return domain_name(address.rpartition("@")[2].strip())


def organizational(domain: str) -> str:
    """The registrable domain: `example.co.uk` of `mail.example.co.uk`; "" for a public suffix itself.

    Under a top-level domain that is not on the list it is the last two labels (the list's rule "*").
    """
    if not domain:
        return ""
    found, suffix = _suffixes().get_sld(domain), _suffixes().get_tld(domain)
    if found == suffix:
        return "" if domain == suffix else ".".join(domain.split(".")[-2:])
    return str(found or "")


def aligned(identifier: str, author: str, mode: Mode) -> bool:
    """Whether an authenticated domain speaks for the author's: the same ("s"), or of one organization ("r")."""
    if not identifier or not author:
        return False
    if identifier == author:
        return True
    return mode == "r" and bool(organizational(author)) and organizational(identifier) == organizational(author)


# SPF (RFC 7208) by pyspf, asking our resolver instead of its module's.
_RESULTS = ("pass", "fail", "softfail", "neutral", "none", "temperror", "permerror")
_KINDS = ("TXT", "A", "AAAA", "MX", "PTR")


class _Query(spf.query):  # type: ignore[misc]
    """A pyspf query whose look-ups go to an injected resolver; nothing is shared between two of them."""

    def __init__(self, peer: Peer, resolver: Resolver) -> None:
        super().__init__(i=peer.ip, s=peer.mail_from, h=peer.helo)
        self._resolver = resolver

    def dns(self, name: str, qtype: str, cnames: Any = None, ignore_void: bool = False) -> list[Any]:
        """One look-up in pyspf's shapes; CNAMEs are the resolver's business. Void look-ups are counted as it does."""
        name = str(name).rstrip(".").lower()
        if qtype not in _KINDS or not all(0 < len(label) < 64 for label in name.split(".")):
            return []
        try:
            records = self._resolver.lookup(name, cast(RecordType, qtype))
        except DnsFailed as exc:
            raise spf.TempError(f"DNS {exc}") from exc
        if not records and not ignore_void:
            self.void_lookups += 1
            if self.void_lookups > spf.MAX_VOID_LOOKUPS:
                raise spf.PermError(f"Void lookup limit of {spf.MAX_VOID_LOOKUPS} exceeded")
        return [_shaped(record, qtype) for record in records]


def _shaped(record: str, qtype: str) -> Any:
    if qtype == "TXT":
        return (record.encode("latin-1", "replace"),)
    if qtype == "MX":
        preference, _, host = record.partition(" ")
        return (int(preference) if preference.isdigit() else 0, host.rstrip("."))
    return record.rstrip(".")


def check_spf(peer: Peer | None, resolver: Resolver) -> Spf:
    """The SPF result for a peer; `none` without one or with an address that is none. Never raises."""
    if peer is None:
        return Spf()
    domain = domain_of(peer.mail_from) or domain_of(peer.helo)
    try:
        ipaddress.ip_address(peer.ip)
    except ValueError:
        return Spf("none", domain)
    try:
        found = str(_Query(peer, resolver).check()[0])
    except (AssertionError, ValueError, IndexError, KeyError, TypeError, AttributeError, RecursionError):
        return Spf("permerror", domain)
    return Spf(cast(SpfResult, found) if found in _RESULTS else "neutral", domain)


# DKIM (RFC 6376, 8301, 8463) by dkimpy: every signature, up to a few, each with its domain.
MAX_SIGNATURES = 5
MOST_SEALS = 50  # RFC 8617, 4.2.1
_END_OF_HEAD = re.compile(rb"\r?\n\r?\n")


def check_dkim(raw: bytes, resolver: Resolver) -> tuple[Dkim, ...]:
    """The result of each signature, topmost first; () for none. Never raises."""
    try:
        message = dkim.DKIM(raw, timeout=0)
    except (dkim.DKIMException, ValueError, IndexError):
        return ()
    return tuple(_verify(message, i, told, resolver) for i, told in enumerate(_signatures(message)))


def keys_of(resolver: Resolver) -> Callable[..., bytes | None]:
    """The look-up of public keys as dkimpy calls it, through our resolver. Raises `DnsFailed`."""

    def txt(name: bytes | str, timeout: float = 0) -> bytes | None:
        wanted = name.decode("ascii") if isinstance(name, bytes) else name
        records = resolver.lookup(wanted, "TXT")
        return records[0].encode("latin-1", "replace") if records else None

    return txt


def signatures(raw: bytes) -> tuple[Signature, ...]:
    """What each signature of a mail says of itself, topmost first, checked or not; one more than are checked."""
    try:
        return tuple(told for _, told in _signatures(dkim.DKIM(raw, timeout=0), MAX_SIGNATURES + 1))
    except (dkim.DKIMException, ValueError, IndexError):
        return ()


def has_unreadable(raw: bytes) -> bool:
    """Whether a mail holds a signature that we cannot read: another program may have found that it holds."""
    head = _END_OF_HEAD.split(raw, maxsplit=1)[0].lower()
    return b"dkim-signature" in head and (not (found := signatures(raw)) or any(not one.digest for one in found))


def message_signature(raw: bytes, instance: int) -> Signature | None:
    """What the ARC-Message-Signature of one instance covers (RFC 8617, 4.1.2); None unless it stands there once."""
    found = _signatures(dkim.DKIM(raw, timeout=0), MOST_SEALS, b"arc-message-signature")
    of_it = [told for tags, told in found if tags.get("i") == str(instance)]
    return of_it[0] if len(of_it) == 1 else None


def _signatures(
    message: dkim.DKIM, most: int = MAX_SIGNATURES, header: bytes = b"dkim-signature"
) -> Iterator[tuple[dict[str, str], Signature]]:
    """The tags of each signature, and what they tell; empty where the header cannot be read."""
    fields = [(name, value) for name, value in message.headers if name.lower() == header]
    for field in fields[:most]:
        try:
            tags = dkim.util.parse_tag_value(field[1])
            read = {k.decode(): re.sub(r"\s", "", v.decode()) for k, v in tags.items()}
        except (dkim.util.InvalidTagValueList, ValueError):
            read = {}
        yield read, _signature(read, signed_digest(message, field, read))


def _signature(tags: dict[str, str], digest: str) -> Signature:
    covers = frozenset(ascii_lower(tags.get("h", "")).split(":")) - {""}
    signed_at, expires_at = _moment(tags.get("t", "")), _moment(tags.get("x", ""))
    return Signature(domain_name(tags.get("d", "")), covers, signed_at, expires_at, "l" in tags, digest)


def _moment(seconds: str) -> datetime | None:
    if not (seconds.isascii() and seconds.isdigit() and len(seconds) < 12):
        return None
    return datetime.fromtimestamp(int(seconds), UTC)


def _verify(message: dkim.DKIM, index: int, found: tuple[dict[str, str], Signature], resolver: Resolver) -> Dkim:
    tags, told = found
    domain = told.domain
    if told.partial:
        return Dkim("permerror", domain, "l= leaves a part of the body unsigned", told)
    if tags.get("a") == "rsa-sha1":
        return Dkim("permerror", domain, "rsa-sha1 is retired (RFC 8301)", told)

    message.pk = None  # set by verify once the key is read
    try:
        if message.verify(idx=index, dnsfunc=keys_of(resolver)):
            return Dkim("pass", domain, signature=told)
        return Dkim("fail", domain, "wrong signature") if message.pk else Dkim("permerror", domain, "no usable key")
    except DnsFailed as exc:
        return Dkim("temperror", domain, str(exc))
    except dkim.DKIMException as exc:
        return Dkim("fail", domain, str(exc))
    except Exception as exc:
        return Dkim("permerror", domain, type(exc).__name__)


# What a DKIM signature was made over, as one digest: two mails of one digest are copies of one signed mail.
#
# Whoever passes a signed mail on may change what the signature leaves open (an uncovered Message-ID, the bytes of
# `b=` that no decoder minds), and nothing that goes into this digest: it is what the verifier hashes (RFC 6376, 3.7),
# the body by its `bh=`.
LENGTH = 32  # hex digits that are kept
_COLON = re.compile(rb"\s{0,99}:\s{0,99}")


def signed_digest(message: dkim.DKIM, field: tuple[bytes, bytes], tags: dict[str, str]) -> str:
    """The digest for one DKIM-Signature field of a message; "" where it cannot be told what it covers."""
    if not tags.get("bh") or not tags.get("h"):
        return ""
    covers = [one.strip().lower() for one in _COLON.split(tags["h"].encode())]
    try:
        policy = CanonicalizationPolicy.from_c_value((tags.get("c") or "simple/simple").encode())
        hasher = hashlib.sha256()
        headers = policy.canonicalize_headers(message.headers)
        dkim.hash_headers(hasher, policy, headers, [*covers, b"from"], field, {})
    except Exception:  # whatever the library makes of hostile bytes: then nothing is known of the signature
        return ""
    return hasher.hexdigest()[:LENGTH]


# DMARC (RFC 7489): find the policy, compare the domains.
#
# authheaders is not asked: it drops hyphens from domains, knows only one signature, and reads the suffix list again
# each time.
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
