"""What sender authentication found: the results of each method, and the level that follows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, Protocol

import dns.exception
import dns.name
import dns.resolver

from services.core.errors import Temporary

Level = Literal["verified", "unverified", "failed"]
Method = Literal["authentication-results", "dmarc", "dkim", "spf", "arc", ""]
SpfResult = Literal["pass", "fail", "softfail", "neutral", "none", "temperror", "permerror"]
DkimResult = Literal["pass", "fail", "none", "temperror", "permerror"]
DmarcResult = Literal["pass", "fail", "none", "temperror", "permerror"]
Policy = Literal["none", "quarantine", "reject", ""]


@dataclass(frozen=True, slots=True)
class Peer:
    """Who handed the mail over: IP address, HELO name, and MAIL FROM ("" for the null return path)."""

    ip: str
    helo: str
    mail_from: str


@dataclass(frozen=True, slots=True)
class Spf:
    """RFC 7208: the result for `domain`, that of MAIL FROM or, for the null path, of HELO."""

    result: SpfResult = "none"
    domain: str = ""


@dataclass(frozen=True, slots=True)
class Signature:
    """What a DKIM-Signature header says of itself; `covers` are headers in lower case, `partial` is `l=`.

    `digest` names the signed mail: every copy of it has the same (see `signed_data`), "" where it cannot be read.
    """

    domain: str
    covers: frozenset[str] = frozenset()
    signed_at: datetime | None = None
    expires_at: datetime | None = None
    partial: bool = False
    digest: str = ""


@dataclass(frozen=True, slots=True)
class Dkim:
    """RFC 6376: one signature's result and its signing domain; `signature` where it was checked here."""

    result: DkimResult
    domain: str
    why: str = ""
    signature: Signature | None = None


@dataclass(frozen=True, slots=True)
class Dmarc:
    """RFC 7489: the result for the From domain; `policy` is what its owner asks for when it fails."""

    result: DmarcResult = "none"
    policy: Policy = ""
    domain: str = ""  # where the record was found
    aligned: tuple[Literal["dkim", "spf"], ...] = ()


@dataclass(frozen=True, slots=True)
class Results:
    """What our own server told; `dmarc.domain` is the From domain that it spoke of. `contradicted` names the checks."""

    spf: Spf = Spf()
    dkim: tuple[Dkim, ...] = ()
    dmarc: Dmarc = Dmarc()
    contradicted: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Authentication:
    """How far the From address is to be believed, and why, in words for a person.

    `vouched` is no result of this: only an operator sets it, never network input.
    """

    level: Level
    method: Method = ""
    reasons: tuple[str, ...] = ()
    spf: Spf = Spf()
    dkim: tuple[Dkim, ...] = ()
    dmarc: Dmarc = Dmarc()
    unsigned: tuple[str, ...] = ()  # headers that name mails or whom to answer, and that no proof covers
    signatures: tuple[str, ...] = ()  # digests of what the author's domain signed: a copy of the mail has one of them


# DNS as authentication needs it: injectable, blocking, bounded. No module of any library is patched.
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
