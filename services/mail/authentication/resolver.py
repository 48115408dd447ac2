"""DNS as authentication needs it: injectable, blocking, bounded. No module of any library is patched."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, Protocol

import dns.exception
import dns.name
import dns.resolver

from services.core.errors import Temporary

RecordType = Literal["TXT", "A", "AAAA", "MX", "PTR"]
MAX_LOOKUPS_A_MAIL = 40
SECONDS_A_LOOKUP = 2.0


class DnsFailed(Temporary):
    """The DNS did not answer in time, or answered that it failed."""


class Resolver(Protocol):
    """Looks up one name. Blocking: run authentication in a thread."""

    def lookup(self, name: str, kind: RecordType) -> tuple[str, ...]:
        """The records in presentation form without quotes ("10 mx.example.org" for MX); () for none.

        TXT strings are joined and decoded as latin-1, so that no byte is lost. Raises DnsFailed.
        """
        ...


class DnsResolver:
    """Name servers through dnspython, with a short timeout; the system's where none are given."""

    def __init__(self, servers: Sequence[str] = (), port: int = 53, seconds: float = SECONDS_A_LOOKUP) -> None:
        self._resolver = dns.resolver.Resolver(configure=not servers)
        if servers:
            self._resolver.nameservers, self._resolver.port = list(servers), port
        self._resolver.lifetime = self._resolver.timeout = seconds

    def lookup(self, name: str, kind: RecordType) -> tuple[str, ...]:
        """See `Resolver.lookup`."""
        try:
            wanted = dns.name.from_text(name.rstrip(".") + ".")
        except (dns.exception.DNSException, UnicodeError):
            return ()  # no such name can exist
        try:
            answer = self._resolver.resolve(wanted, kind, raise_on_no_answer=False)
        except dns.resolver.NXDOMAIN:
            return ()
        except (dns.exception.DNSException, OSError) as exc:
            raise DnsFailed(f"{kind} {name}: {exc}") from exc
        if kind == "TXT":
            return tuple(b"".join(record.strings).decode("latin-1") for record in answer)
        return tuple(record.to_text() for record in answer)


class Budgeted:
    """One mail's look-ups: each asked once, at most `limit` in all, so that no mail costs more time than that."""

    def __init__(self, inner: Resolver, limit: int = MAX_LOOKUPS_A_MAIL) -> None:
        self._inner, self._left = inner, limit
        self._known: dict[tuple[str, RecordType], tuple[str, ...] | DnsFailed] = {}

    def lookup(self, name: str, kind: RecordType) -> tuple[str, ...]:
        """See `Resolver.lookup`; raises DnsFailed when the budget is spent."""
        key = (name.rstrip(".").lower(), kind)
        if key not in self._known:
            self._known[key] = self._ask(*key)
        known = self._known[key]
        if isinstance(known, DnsFailed):
            raise known
        return known

    def _ask(self, name: str, kind: RecordType) -> tuple[str, ...] | DnsFailed:
        if self._left <= 0:
            return DnsFailed("too many look-ups for one mail")
        self._left -= 1
        try:
            return self._inner.lookup(name, kind)
        except DnsFailed as exc:
            return exc
