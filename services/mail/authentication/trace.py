"""The trace that servers leave (Received, RFC 5321 section 4.4): which hops are our own, and when a mail arrived.

Only what our own server wrote is to be believed, and the HELO name in it is the client's word: a hop counts as one
within our own delivery only by its protocol, LMTP, which nobody speaks to us from outside.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from datetime import datetime

from mailparser.exceptions import MailParserReceivedParsingError
from mailparser.utils import parse_received

from services.mail.authentication.domains import organizational
from services.mail.dates import parse_date
from services.mail.mailbox import ascii_lower, domain_name
from services.mail.message import ParsedMail

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
