"""The head of a mail copied under a reply: "From: / Sent: / To: / Subject:", and the lines that announce it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from services.core.mail.reply_text import words

MAX_BLOCK_LINES = 14
MAX_WRAPPED_LINES = 2
LEAST_ROLES = 3


def _any_of(choices: Iterable[str]) -> str:
    return "|".join(re.escape(choice) for choice in sorted(set(choices), key=len, reverse=True))


_ROLE = {label: role for role, labels in reversed(words.HEADER_LABELS.items()) for label in labels}
_LABEL = re.compile(rf"[ \t>*_|]*({_any_of(_ROLE)})[ \t\u3000\u00a0*_]*[:：](?!//)", re.IGNORECASE)
_FENCED = re.compile(
    rf"[\s>*_]*[-_=—–~]{{2,}}[\s>]*(?:{_any_of((*words.SEPARATORS, *words.FORWARDS))}).{{0,80}}\Z", re.IGNORECASE
)
_FORWARD = re.compile(rf"[\s>*_]*(?:{_any_of(words.FORWARDS)})\s*[:：]?[\s*_]*\Z", re.IGNORECASE)
_REPLY_ABOVE = re.compile(
    r"[\s>*_#=-]*(?:please )?(?:reply|write|type) (?:your reply )?above this line\b.{0,60}\Z", re.IGNORECASE
)


def role(line: str) -> str:
    """What a header line says (`from`, `sent`, `to`, `cc`, `subject`, `reply`), or ""."""
    match = _LABEL.match(line[:200])
    return _ROLE.get(match[1].lower(), "") if match else ""


def is_separator(line: str) -> bool:
    """Whether a line announces an older mail: `-----Original Message-----`, `Begin forwarded message:`."""
    return len(line) <= 200 and bool(_FENCED.match(line) or _FORWARD.match(line) or _REPLY_ABOVE.match(line))


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
