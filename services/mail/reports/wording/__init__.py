"""Words of mail systems and robots in many languages, kept as text: one regular expression a line, `#` for remarks.

To teach a further phrase or language, add a line (in lower case) to a file. A text in ASCII is tried against the
lines in ASCII alone, and always in lower case: half the time, since patterns that ignore case are slow.

Invariant: the time is bounded whatever the text. A text is capped, what stands before a subject's own words is taken
off by code and not by a pattern, and what a line repeats is `bounded`.
"""

from __future__ import annotations

import re
from functools import cache

from services.core.wording import bounded, lines_of

MAX_SUBJECT = 300
MAX_TEXT = 4_000
_PREFIX = re.compile(r"(?:re|aw|sv|antw|rv|odp|vs|r)\s{0,3}:")


def find_wording(name: str, text: str) -> str:
    """The first words of a text (in lower case) that a line of `name.txt` matches, or ""; of its first `MAX_TEXT`."""
    text = text[:MAX_TEXT]
    found = _pattern(name, text.isascii()).search(text.lower())
    return found.group(0).strip() if found else ""


def opens_with_wording(name: str, text: str) -> str:
    """The words with which a subject begins, behind reply prefixes and brackets, that a line matches, or ""."""
    text = text[:MAX_SUBJECT].lower()
    found = _pattern(name, text.isascii()).match(text, _after_prefixes(text))
    return text[: found.end()].strip() if found else ""


def _after_prefixes(text: str) -> int:
    """Where a subject's own words begin: behind signs and `Re:` and its like, however many."""
    at = _after_signs(text, 0)
    while prefix := _PREFIX.match(text, at):
        at = _after_signs(text, prefix.end())
    return at


def _after_signs(text: str, at: int) -> int:
    while at < len(text) and not (text[at].isalnum() or text[at] == "_"):
        at += 1
    return at


@cache
def _pattern(name: str, ascii_only: bool) -> re.Pattern[str]:
    wanted = [line for line in lines_of(__name__, name) if line.isascii() or not ascii_only]
    return re.compile("|".join(map(bounded, wanted)), re.S)
