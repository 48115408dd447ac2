"""What sender authentication found: the results of each method, and the level that follows."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

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
