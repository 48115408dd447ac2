"""The head of a mail copied under a reply: "From: / Sent: / To: / Subject:", and the lines that announce it."""

from __future__ import annotations

import re
from collections.abc import Sequence

from services.core.mail.reply_text import words

MAX_BLOCK_LINES = 14
MAX_SEPARATOR = 200
MAX_WRAPPED_LINES = 2
LEAST_ROLES = 3


_ROLE = {label: role for role, labels in reversed(words.HEADER_LABELS.items()) for label in labels}
_LONGEST_LABEL = max(map(len, _ROLE))
_COLON = re.compile(r"[:：](?!//)")
_DASHES = "-_=—–~"
_DECORATION = _DASHES + "#<>*:： \t\u00a0\u200b"
_ANNOUNCEMENTS = (*words.SEPARATORS, *words.FORWARDS)
_BETWEEN_DASHES = re.compile(r"[ \t>*]*[-_=—–]{3,} ?[^\W\d_][^-_=\d]{2,50} ?[-_=—–]{3,}[ \t>*]*\Z")
_REPLY_ABOVE = re.compile(r"(?:please )?(?:reply|write|type) (?:your reply )?above this line\b.{0,60}\Z")


def role(line: str) -> str:
    """What a header line says (`from`, `sent`, `to`, `cc`, `subject`, `reply`), or ""."""
    start = line.lstrip(" \t>*_|")[: _LONGEST_LABEL + 8]
    colon = _COLON.search(start)
    return _ROLE.get(start[: colon.start()].strip(" \t\u3000\u00a0*_").lower(), "") if colon else ""


def is_separator(line: str) -> bool:
    """Whether a line announces an older mail: `-----Original Message-----`, `Begin forwarded message:`."""
    if len(line) > MAX_SEPARATOR:
        return False
    said = line.strip(_DECORATION).lower()
    fenced = line.lstrip(" \t>*")[:1] in tuple(_DASHES)
    return said in words.FORWARDS or (fenced and said.startswith(_ANNOUNCEMENTS)) or bool(_REPLY_ABOVE.match(said))


def announces(lines: Sequence[str], index: int) -> bool:
    """Whether a line is a few words between dashes, in any language, with the head of a mail below it."""
    if not _BETWEEN_DASHES.match(lines[index]):
        return False
    below = [line for line in lines[index + 1 : index + 4] if line.strip()]
    return bool(below) and role(below[0]) in ("from", "sent", "subject", "to")


def block_end(lines: Sequence[str], start: int) -> int:
    """The index behind the header block that begins at `start`; `start` itself where none does.

    A block names at least three roles, the sender or the date among them, in lines that may be wrapped.
    """
    if not role(lines[start]):
        return start
    roles: set[str] = set()
    end, strange = start, 0
    for index in range(start, min(start + MAX_BLOCK_LINES, len(lines))):
        if found := role(lines[index]):
            roles.add(found)
            end, strange = index + 1, 0
        elif lines[index].strip():
            strange += 1
            if strange > MAX_WRAPPED_LINES:
                break
    enough = len(roles) >= LEAST_ROLES and bool(roles & {"from", "sent"})
    return end if enough else start
