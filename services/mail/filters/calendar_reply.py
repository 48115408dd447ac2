"""Answers to invitations (RFC 5546, 3.2.3; RFC 6047): a program accepts or declines, and a person may add a line."""

from __future__ import annotations

import re

from services.mail.filters.verdict import FilterContext, Verdict
from services.mail.message import ParsedMail
from services.mail.part_roles import CALENDAR

LOOKED_AT_BYTES = 64 * 1024

_FOLD = re.compile(rb"\r?\n[ \t]")
_REPLY = re.compile(rb"^METHOD[^:\r\n]*:[ \t]*(?:REPLY|REFRESH)[ \t]*\r?$", re.IGNORECASE | re.MULTILINE)
_STATUS = re.compile(rb"\bPARTSTAT=(ACCEPTED|DECLINED|TENTATIVE|DELEGATED)", re.IGNORECASE)
_COMMENT = re.compile(rb"^COMMENT[^:\r\n]*:[ \t]*\S", re.IGNORECASE | re.MULTILINE)


def calendar_reply(mail: ParsedMail, ctx: FilterContext) -> Verdict | None:
    """Park them; one with a comment goes to a human."""
    for part in mail.attachments:
        if part.claimed_type in CALENDAR or part.content_type in CALENDAR:
            content = _FOLD.sub(b"", part.content[:LOOKED_AT_BYTES])
            if _REPLY.search(content):
                return _verdict(content)
    return None


def _verdict(content: bytes) -> Verdict:
    said = _STATUS.search(content)
    what = f"a calendar's reply ({said[1].decode().lower()})" if said else "a calendar's reply"
    if _COMMENT.search(content):
        return Verdict("human", f"{what} with a comment", "calendar_reply")
    return Verdict("park", what, "calendar_reply")
