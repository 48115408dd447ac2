"""Authentication-Results (RFC 8601) that our own server wrote: ours by authserv-id, and only the topmost.

A sender may write the same header with our name in it. Our server must strip those (RFC 8601 section 5); in case it
does not, what stands below its own trace of the arrival is never believed, nor what stands below another header of its
name: the topmost decides, also where it says `none` or cannot be read, and those below it may only contradict it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from datetime import datetime
from itertools import takewhile
from typing import Any

import authres
from mailparser.exceptions import MailParserReceivedParsingError
from mailparser.utils import parse_received

from services.core.mailbox import ascii_lower, domain_name
from services.mail.authentication.results import Dkim, Dmarc, Policy, Results, Spf
from services.mail.authentication.sender_checks import domain_of, organizational
from services.mail.headers import parse_date
from services.mail.message import ParsedMail

# The trace that servers leave (Received, RFC 5321 section 4.4): which hops are our own, and when a mail arrived.
#
# Only what our own server wrote is to be believed, and the HELO name in it is the client's word: a hop counts as one
# within our own delivery only by its protocol, LMTP, which nobody speaks to us from outside.
LONGEST = 2_000  # characters of a Received value that are looked at
_BY = re.compile(r"(?:\A|\s)by\s{1,9}([^\s;()]{1,255})")
_LMTP = re.compile(r"\swith\s{1,9}(?:utf8)?lmtp[sa]{0,2}(?=[\s;(]|\Z)")


def is_delivery_hop(received: str, authserv_ids: Collection[str]) -> bool:
    """Whether a Received value tells of a hop within our own servers, and not of the arrival from outside."""
    host, server = _hop(received)
    return _is_ours(host, authserv_ids) and bool(_LMTP.search(server)) and _is_read_alike(received, host)


def is_by_ours(received: str, authserv_ids: Collection[str]) -> bool:
    """Whether a Received value names one of our own servers as the one that took the mail."""
    return _is_ours(_hop(received)[0], authserv_ids)


def _hop(received: str) -> tuple[str, str]:
    """The server's name, and what follows it; nothing where that is not certain."""
    text = ascii_lower(received[:LONGEST]).rpartition(";")[0]
    hops = list(_BY.finditer(text))
    return (hops[0][1], text[hops[0].end() :]) if len(hops) == 1 else ("", "")


def arrived_at(mail: ParsedMail, authserv_ids: Collection[str], latest: datetime) -> datetime:
    """When our server took the mail, by its own stamp at the top; `latest` where there is none of ours before it."""
    stamp = next((value for name, value in mail.headers if ascii_lower(name) == "received"), "")
    at = parse_date(stamp[:LONGEST]) if is_by_ours(stamp, authserv_ids) else None
    return min(at, latest) if at else latest


def _is_read_alike(received: str, host: str) -> bool:
    """Whether mail-parser, which splits the value into its clauses, finds the same server and LMTP too.

    What two readers see differently was written to be misread: no trust rests on it.
    """
    try:
        clauses = parse_received(ascii_lower(received[:LONGEST]))
    except MailParserReceivedParsingError:
        return False
    return clauses.get("by", "").split()[:1] == [host] and bool(_LMTP.search(f" with {clauses.get('with', '')}"))


def _is_ours(host: str, authserv_ids: Collection[str]) -> bool:
    name = domain_name(host)
    ours = {domain_name(one) for one in authserv_ids} - {""}
    return name in ours or (
        bool(organizational(name)) and organizational(name) in {organizational(one) for one in ours}
    )


_QUOTED = re.compile(r'"[^"]{0,998}"')
_POLICY = re.compile(
    r"\bdmarc\s{0,9}=\s{0,9}[a-z]{1,20}\s{0,9}\([^()]{0,200}?\bp=\s{0,9}(none|quarantine|reject)", re.I
)
_RESULTS = ("pass", "fail", "softfail", "neutral", "none", "temperror", "permerror")


def results_of(mail: ParsedMail, authserv_ids: Collection[str], stripping_ids: Collection[str] = ()) -> Results:
    """What our own server told of a mail."""
    run = _run(mail, authserv_ids, stripping_ids)
    counted = _counted(run, stripping_ids)
    return read_results(counted, run[len(counted) :])


def trusted_headers(
    mail: ParsedMail, authserv_ids: Collection[str], stripping_ids: Collection[str] = ()
) -> tuple[str, ...]:
    """The Authentication-Results that count: the topmost with one of `authserv_ids`.

    Of a server that removes what others wrote in its name also those that follow directly in its name.
    """
    return _counted(_run(mail, authserv_ids, stripping_ids), stripping_ids)


def _counted(run: tuple[str, ...], stripping_ids: Collection[str]) -> tuple[str, ...]:
    """A forged header in the name of a server that strips nothing stands right below the server's own."""
    top = authserv_id(run[0]) if run else ""
    if top not in {ascii_lower(i) for i in stripping_ids}:
        return run[:1]
    return tuple(takewhile(lambda value: authserv_id(value) == top, run))


def _run(mail: ParsedMail, authserv_ids: Collection[str], stripping_ids: Collection[str]) -> tuple[str, ...]:
    """The topmost run of Authentication-Results with one of `authserv_ids`; a foreign one or a hop ends it.

    Hops of our own delivery (LMTP) are skipped. Servers of `stripping_ids` are known to remove results that others
    wrote in their name: theirs are looked for below the trace of the arrival too, though not below the one before it,
    nor below the trace of a server of ours that strips nothing.
    """
    ours, stripping = {ascii_lower(i) for i in authserv_ids}, {ascii_lower(i) for i in stripping_ids}
    looked_for = set(ours)
    found: list[str] = []
    arrived = False
    for name, value in mail.headers:
        header = ascii_lower(name)
        if header == "authentication-results":
            if authserv_id(value) not in looked_for:
                break
            found.append(value)
        elif header == "received" and not is_delivery_hop(value, looked_for):
            looked_for &= stripping
            by_stripping = is_by_ours(value, looked_for)
            if found or not looked_for or (not by_stripping and (arrived or is_by_ours(value, ours))):
                break
            arrived = arrived or by_stripping
    return tuple(found)


def authserv_id(value: str) -> str:
    """The authserv-id of a header value, comments and version aside, in lower case."""
    words = re.sub(r"\([^()]*\)", " ", value).partition(";")[0].split()
    return ascii_lower(words[0].strip('"')) if words else ""


def read_results(headers: Collection[str], below: Collection[str] = ()) -> Results:
    """What trusted headers tell: the topmost result of each check, and the checks that contradict themselves.

    Headers `below` them may be anybody's: they add nothing, and can only contradict, as does a DMARC that fails there.
    """
    found: dict[tuple[str, ...], Any] = {}
    contradicted: list[str] = []
    for about, result in _told_by(headers):
        if found.setdefault(about, result).result != result.result:
            contradicted.append(about[0])
    against = list(_told_by(below))
    for about, result in against:
        if result.result != found[about].result if about in found else about[0] == "dmarc" and result.result == "fail":
            contradicted.append(about[0])
    spf = [one for one in found.values() if isinstance(one, Spf)]
    dmarc = [one for one in found.values() if isinstance(one, Dmarc)]
    dkim = tuple(one for one in found.values() if isinstance(one, Dkim))
    authors = {one.domain for one in (*dmarc, *(result for _, result in against if isinstance(result, Dmarc)))}
    contradicted += ["dmarc"] if dmarc and len(authors) > 1 else []
    return Results(spf[0] if spf else Spf(), dkim, dmarc[0] if dmarc else Dmarc(), tuple(dict.fromkeys(contradicted)))


def _told_by(headers: Collection[str]) -> Iterator[tuple[tuple[str, ...], Spf | Dkim | Dmarc]]:
    for value, each in _results(headers):
        if told := _told(each, value):
            yield told


def _told(each: Any, header: str) -> tuple[tuple[str, ...], Spf | Dkim | Dmarc] | None:
    """One result, under what it is about: two of one kind about the same have to agree."""
    said = {ascii_lower(f"{p.type}.{p.name}"): str(p.value) for p in each.properties}
    if each.method == "spf":
        identity = "smtp.mailfrom" if "smtp.mailfrom" in said else "smtp.helo"
        spf = Spf(_known(each.result), domain_of(said.get(identity, "")))
        return ("spf", identity), spf
    if each.method == "dkim":
        dkim = Dkim(_known(each.result), domain_of(said.get("header.d") or said.get("header.i", "")))
        return ("dkim", dkim.domain, said.get("header.s", "")), dkim
    if each.method == "dmarc":
        author = domain_of(said.get("header.from", ""))
        return ("dmarc", author), Dmarc(_known(each.result), _policy(header), author)
    return None


def _results(headers: Collection[str]) -> Iterator[tuple[str, Any]]:
    for value in headers:
        try:
            results = authres.AuthenticationResultsHeader.parse(f"Authentication-Results: {value}").results
        except (authres.core.AuthResError, ValueError, IndexError):
            continue
        yield from ((value, one) for one in results)


def _known(result: str | None) -> Any:
    value = ascii_lower(result or "")
    return value if value in _RESULTS else "none"


def _policy(header: str) -> Policy:
    """The policy in dmarc's comment, as OpenDMARC and Google write it; "" where none is told, and DNS is asked."""
    told = _POLICY.search(_QUOTED.sub(" ", header))
    return ascii_lower(told.group(1)) if told else ""  # type: ignore[return-value]
