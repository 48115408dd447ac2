"""Whether a quote really stands in a text: whole words, white space folded, everything else as it is."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from services.core.settings.learning import LONGEST_QUOTE

_LETTER = re.compile(r"[0-9A-Za-z_\u00c0-\u1fff]")  # of scripts that part their words with spaces
_WORD = re.compile(r"\S+")


@dataclass(frozen=True, slots=True)
class Span:
    """Where a quote stands: characters `start` to `end` (exclusive) of the text, and those words."""

    start: int
    end: int
    quote: str


def find_quote(quote: str, text: str) -> Span | None:
    """The first place where `quote` stands in `text`, or None. A quote of no word stands nowhere."""
    sought, folded = " ".join(quote.split()), " ".join(text.split())
    if not sought or len(quote) > LONGEST_QUOTE:
        return None
    at = folded.find(sought)
    while at >= 0 and not _is_whole(folded, at, at + len(sought)):
        at = folded.find(sought, at + 1)
    if at < 0:
        return None
    words = [found.start() for found in _WORD.finditer(text)]
    start, end = _unfolded(at, folded, words), _unfolded(at + len(sought) - 1, folded, words) + 1
    return Span(start, end, text[start:end][:LONGEST_QUOTE])


def _is_whole(text: str, start: int, end: int) -> bool:
    """No letter stands before or after a quote whose edge is a letter: "40" is no quote of "1402"."""
    return not (_inside_word(text, start) or _inside_word(text, end))


def _inside_word(text: str, at: int) -> bool:
    return 0 < at < len(text) and bool(_LETTER.match(text, at - 1) and _LETTER.match(text, at))


def _unfolded(at: int, folded: str, words: Sequence[int]) -> int:
    """Where the character of a word that stands at `at` of the folded text stands in the text."""
    return words[folded.count(" ", 0, at)] + at - (folded.rfind(" ", 0, at) + 1)
