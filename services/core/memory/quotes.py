"""Whether a quote really stands in a text: whole words, white space folded, everything else as it is."""

from __future__ import annotations

import re
from dataclasses import dataclass

MAX_QUOTE = 300  # characters
_LETTERS = r"[0-9A-Za-z_\u00c0-\u1fff]"  # of scripts that part their words with spaces


@dataclass(frozen=True, slots=True)
class Span:
    """Where a quote stands: characters `start` to `end` (exclusive) of the text, and those words."""

    start: int
    end: int
    quote: str


def find_quote(quote: str, text: str) -> Span | None:
    """The first place where `quote` stands in `text`, or None. A quote of no word stands nowhere."""
    words = quote.split()
    if not words or len(quote) > MAX_QUOTE:
        return None
    pattern = (
        _boundary(words[0][0], "<") + r"\s+".join(re.escape(word) for word in words) + _boundary(words[-1][-1], "")
    )
    found = re.search(pattern, text)
    return Span(found.start(), found.end(), found.group()[:MAX_QUOTE]) if found else None


def _boundary(edge: str, direction: str) -> str:
    """No letter may stand before (`<`) or after a quote whose edge is a letter: "40" is no quote of "1402"."""
    return f"(?{direction}!{_LETTERS})" if re.match(_LETTERS, edge) else ""
