"""Authentication-Results (RFC 8601) that our own server wrote: ours by authserv-id, and only the topmost ones.

A sender may write the same header with our name in it. Our server must strip those (RFC 8601
section 5); in case it does not, what stands below its own trace is never believed.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import Any

import authres

from services.core.mail.authentication.domains import domain_of
from services.core.mail.authentication.nouns import Dkim, Dmarc, Policy, Spf
from services.core.mail.message import ParsedMail

_POLICY = re.compile(r"\bp=\s*(none|quarantine|reject)", re.I)


def trusted_headers(mail: ParsedMail, authserv_ids: Collection[str]) -> tuple[str, ...]:
    """The topmost run of Authentication-Results with one of `authserv_ids`; a foreign one or a hop ends it."""
    ours, found = {i.casefold() for i in authserv_ids}, list[str]()
    for name, value in mail.headers:
        if name.casefold() == "authentication-results":
            if authserv_id(value) not in ours:
                break
            found.append(value)
        elif name.casefold() == "received" and found:
            break
    return tuple(found)


def authserv_id(value: str) -> str:
    """The authserv-id of a header value, comments and version aside, in lower case."""
    words = re.sub(r"\([^()]*\)", " ", value).partition(";")[0].split()
    return words[0].strip('"').casefold() if words else ""


def read_results(headers: Collection[str]) -> tuple[Spf, tuple[Dkim, ...], Dmarc, str]:
    """(spf, dkim, dmarc, the From domain that dmarc was about), as trusted headers tell them."""
    spf, dkim, dmarc, author = Spf(), list[Dkim](), Dmarc(), ""
    for each in _results(headers):
        domain = {f"{p.type}.{p.name}".lower(): str(p.value) for p in each.properties}
        if each.method == "spf":
            spf = Spf(_known(each.result), domain_of(domain.get("smtp.mailfrom") or domain.get("smtp.helo", "")))
        elif each.method == "dkim":
            dkim.append(Dkim(_known(each.result), domain_of(domain.get("header.d") or domain.get("header.i", ""))))
        elif each.method == "dmarc":
            author = domain_of(domain.get("header.from", ""))
            dmarc = Dmarc(_known(each.result), _policy(each, headers), author)
    return spf, tuple(dkim), dmarc, author


def _results(headers: Collection[str]) -> Iterator[Any]:
    for value in headers:
        try:
            yield from authres.AuthenticationResultsHeader.parse(f"Authentication-Results: {value}").results
        except (authres.core.AuthResError, ValueError, IndexError):
            continue


def _known(result: str | None) -> Any:
    value = (result or "").casefold()
    return value if value in ("pass", "fail", "softfail", "neutral", "none", "temperror", "permerror") else "none"


def _policy(result: Any, headers: Collection[str]) -> Policy:
    """The policy in dmarc's comment, as OpenDMARC, Google and Microsoft write it; "" where none is told."""
    told = _POLICY.search(f"{result.result_comment or ''} {result.reason or ''}") or _POLICY.search(" ".join(headers))
    return told.group(1).casefold() if told else ""  # type: ignore[return-value]
