"""Words of mail systems and robots in many languages, kept as text: one regular expression a line, `#` for remarks.

To teach a further phrase or language, add a line to a file; the tests try each line against its neighbours' examples.
"""

from __future__ import annotations

import importlib.resources
import re
from functools import cache


@cache
def wording(name: str, at_start: bool = False) -> re.Pattern[str]:
    """The alternatives of `name.txt` as one pattern, any case; `at_start` after reply prefixes and brackets."""
    text = (importlib.resources.files(__package__) / f"{name}.txt").read_text(encoding="utf-8")
    lines = [line for line in text.split("\n") if line.strip() and not line.startswith("#")]
    prefix = r"^[\s\W]*(?:(?:re|aw|sv|antw|rv|odp|vs|r)\s*:\s*)*[\s\W]*" if at_start else ""
    return re.compile(f"{prefix}(?:{'|'.join(lines)})", re.I | re.S)
