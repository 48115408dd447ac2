"""Whether a quote really stands in a text. White space is folded, everything else has to match."""

from __future__ import annotations

import re
from dataclasses import dataclass

MAX_QUOTE = 300  # characters


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
    pattern = r"\s+".join(re.escape(word) for word in words)
    found = re.search(pattern, text)
    return Span(found.start(), found.end(), found.group()[:MAX_QUOTE]) if found else None
