"""The returned message of a report: where it begins in plain text, and which mail it was."""

from __future__ import annotations

import re
from collections.abc import Sequence

from services.mail.report_tokens import HEADER
from services.mail.reports.report import Leaf

_HEADER = re.compile(r"^[>\s|]{0,8}([A-Za-z][A-Za-z0-9-]{1,40})[ \t]*:(?=\s)", re.M)
_MAIL_HEADERS = frozenset(
    [
        "received",
        "return-path",
        "from",
        "to",
        "subject",
        "date",
        "message-id",
        "mime-version",
        "content-type",
        "sender",
        "cc",
        "reply-to",
        "x-mailer",
        "dkim-signature",
        "x-received",
        "delivered-to",
        "content-transfer-encoding",
        "references",
        "in-reply-to",
        "domainkey-signature",
    ]
)
_TRACE = frozenset(("received", "return-path", "message-id", "dkim-signature", "mime-version", "delivered-to"))
_MARKER = re.compile(
    r"^[ \t>*#=|-]{0,80}("
    r"(below this line is|this is|here is|the following is|following is|a)? ?a? ?"
    r"(full |complete )?copy of (the|your|my)? ?"
    r"(original )?(message|mail|headers|first)"
    r"|((possibly )?truncated |the |your )?"
    r"(original|returned|unsent|undelivered|rejected|failed) (message|mail|e-?mail|text|content|body)"
    r"( (follows|headers?|body|text|below|header follows|content))?"
    r"|(the )?(text|headers?|body|first \d+ \w+) of (the |your )?(original )?(message|mail|e-?mail)"
    r"|(the )?header of the original message"
    r"|body of message generated response"
    r"|-{1,80} ?(weitergeleitete|ursprüngliche|returned|original) .*"
    r"|(message )?headers? follow(s)?"
    r")[ \t:.,>*#=|-]{0,80}(\([^()\n]{0,80}\))?[ \t:.>*#=|-]{0,80}$",
    re.I | re.M,
)
_MESSAGE_ID = re.compile(
    r"^[> \t|]{0,8}(?:X-)?(?:Original-)?Message-ID[ \t]{0,20}:[ \t]{0,20}(?:\n[ \t]{1,20})?"
    r"<?([^<>\s@]{1,250}@[^<>\s@]{1,250})>?[ \t]{0,20}$",
    re.I | re.M,
)
_REPORT_TOKEN = re.compile(
    rf"^[> \t|]{{0,8}}{HEADER}[ \t]{{0,20}}:[ \t]{{0,20}}([a-z2-7]{{16}})[ \t]{{0,20}}$", re.I | re.M
)
_ANY_ID = re.compile(r"(?:Message-ID|References|In-Reply-To)[ \t]{0,20}:[ \t]{0,20}<([^<>\s]{3,500})>", re.I)
_TO = re.compile(r"^[> \t|]{0,8}(?:X-)?To[ \t]*:[ \t]*(.+(?:\n[ \t]+\S.*)*)", re.I | re.M)


def split_returned(text: str) -> tuple[str, str]:
    """(what the mail system wrote, what it gave back): cut at a marker line or at a block of mail headers."""
    cuts = [len(text)]
    marker = next((m for m in _MARKER.finditer(text) if m.start() > 0), None)
    if marker:
        cuts.append(marker.start())
    block = _header_block(text)
    if block >= 0:
        cuts.append(block)
    cut = min(cuts)
    return text[:cut], text[cut:]


def _header_block(text: str) -> int:
    """Where three mail headers, one a trace header, stand within ten header lines; -1 for nowhere."""
    hits = [(m.start(), m.group(1).casefold()) for m in _HEADER.finditer(text)]
    for i, (start, name) in enumerate(hits):
        if name not in _MAIL_HEADERS:
            continue
        near = {n for at, n in hits[i : i + 10] if at - start < 3000} & _MAIL_HEADERS
        if len(near) >= 3 and near & _TRACE:
            return start
    return -1


def returned_text(parts: Sequence[Leaf]) -> str:
    """Everything of the original mail that the report gives back, machine parts first."""
    whole = [p.text for p in parts if p.returned]
    return "\n".join(whole + [split_returned(p.text)[1] for p in parts if p.content_type.startswith("text/")])


def original_message_id(text: str) -> str:
    """The Message-ID of the returned headers without angle brackets, or ""."""
    found = _MESSAGE_ID.search(text)
    return found.group(1) if found else ""


def report_token(text: str) -> str:
    """The report token of the returned headers, or ""."""
    found = _REPORT_TOKEN.search(text)
    return found.group(1) if found else ""


def message_ids(text: str) -> frozenset[str]:
    """Everything that stands as a Message-ID in a report, in lower case: it looks like an address and is none."""
    return frozenset(found.casefold() for found in _ANY_ID.findall(text))


def original_to(text: str) -> str:
    """The To header of the returned message, unfolded, or ""."""
    found = _TO.search(text)
    return re.sub(r"\s+", " ", found.group(1)) if found else ""
