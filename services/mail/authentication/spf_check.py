"""SPF (RFC 7208) by pyspf, asking our resolver instead of its module's."""

from __future__ import annotations

import ipaddress
from typing import Any, cast

import spf

from services.mail.authentication.domains import domain_of
from services.mail.authentication.resolver import DnsFailed, RecordType, Resolver
from services.mail.authentication.results import Peer, Spf, SpfResult

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
