"""Words of mail systems and robots in many languages, kept as text: one regular expression a line, `#` for remarks.

To teach a further phrase or language, add a line (in lower case) to a file. A text in ASCII is tried against the
lines in ASCII alone, and always in lower case: half the time, since patterns that ignore case are slow.
"""

from __future__ import annotations

import re
from functools import cache

from services.core.wording import lines_of

_AFTER_PREFIXES = r"^[\s\W]*(?:(?:re|aw|sv|antw|rv|odp|vs|r)\s*:\s*)*[\s\W]*"


def find_wording(name: str, text: str) -> str:
    """The first words of a text (in lower case) that a line of `name.txt` matches, or ""."""
    found = _pattern(name, text.isascii(), "").search(text.lower())
    return found.group(0).strip() if found else ""


def opens_with_wording(name: str, text: str) -> str:
    """The words with which a subject begins, behind reply prefixes and brackets, that a line matches, or ""."""
    found = _pattern(name, text.isascii(), _AFTER_PREFIXES).match(text.lower())
    return found.group(0).strip() if found else ""


@cache
def _pattern(name: str, ascii_only: bool, prefix: str) -> re.Pattern[str]:
    wanted = [line for line in lines_of(__name__, name) if line.isascii() or not ascii_only]
    return re.compile(f"{prefix}(?:{'|'.join(wanted)})", re.S)
