"""Whether a quote really stands in a text: whole words in their order.

What a model retypes does not count: white space, capitals, typographic apostrophes and dashes, a stop at the end, and
an ellipsis for words that it leaves out.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

from services.core.settings.memory import LONGEST_QUOTE

_LETTER = re.compile(r"[0-9A-Za-z_\u00c0-\u1fff]")  # of scripts that part their words with spaces
_WORD = re.compile(r"\S+")
_TYPED = str.maketrans(
    dict.fromkeys("\u2018\u2019\u201a\u201b\u00b4`\u02bc", "'")
    | dict.fromkeys("\u201c\u201d\u201e\u201f\u00ab\u00bb", '"')
    | dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212", "-")
)
_ELLIPSIS = re.compile(r"[\[(]?\.\.\.[\])]?")  # what stands around it is stripped by _EDGES
_EDGES = " .,'\""
LEFT_OUT = 200  # characters that an ellipsis may stand for


@dataclass(frozen=True, slots=True)
class Span:
    """Where a quote stands: characters `start` to `end` (exclusive) of the text, and those words."""

    start: int
    end: int
    quote: str


def find_quote(quote: str, text: str) -> Span | None:
    """The first place where `quote` stands in `text`, or None. A quote of no word stands nowhere.

    Words as they are come first; where they stand nowhere, as they may be retyped.
    """
    sought, folded = " ".join(quote.split()), " ".join(text.split())
    if not sought or len(quote) > LONGEST_QUOTE:
        return None
    at = _first(sought, folded)
    if at < 0:
        return _retyped(sought, text)
    words = [found.start() for found in _WORD.finditer(text)]
    start, end = _unfolded(at, folded, words), _unfolded(at + len(sought) - 1, folded, words) + 1
    return Span(start, end, text[start:end][:LONGEST_QUOTE])


def _first(sought: str, folded: str, start: int = 0) -> int:
    """Where whole words stand first; -1 if nowhere."""
    at = folded.find(sought, start)
    while at >= 0 and not _is_whole(folded, at, at + len(sought)):
        at = folded.find(sought, at + 1)
    return at


def _retyped(quote: str, text: str) -> Span | None:
    """Where a quote stands as a model may retype it; the parts around an ellipsis follow each other closely."""
    folded, places = _plain(text)
    parts = [one.strip(_EDGES) for one in _ELLIPSIS.split(_plain(quote)[0])]
    parts = [one for one in parts if one]
    if not parts or not any(one.isalnum() for part in parts for one in part):
        return None
    start = at = _first(parts[0], folded)
    for part, earlier in zip(parts[1:], parts, strict=False):
        after = at + len(earlier)
        found = _first(part, folded, after) if at >= 0 else -1
        at = found if found - after <= LEFT_OUT else -1
    if start < 0 or at < 0:
        return None
    begin, end = places[start], places[at + len(parts[-1]) - 1] + 1
    return Span(begin, end, text[begin:end][:LONGEST_QUOTE])


def _plain(text: str) -> tuple[str, list[int]]:
    """A text as it is compared, and which character of it each one is of."""
    plain: list[str] = []
    places: list[int] = []
    for place, letter in enumerate(text):
        for one in unicodedata.normalize("NFKD", letter.translate(_TYPED)).casefold():
            seen = " " if one.isspace() else one
            if unicodedata.category(one) == "Cf" or (seen == " " and (not plain or plain[-1] == " ")):
                continue
            plain.append(seen)
            places.append(place)
    return "".join(plain), places


def _is_whole(text: str, start: int, end: int) -> bool:
    """No letter stands before or after a quote whose edge is a letter: "40" is no quote of "1402"."""
    return not (_inside_word(text, start) or _inside_word(text, end))


def _inside_word(text: str, at: int) -> bool:
    return 0 < at < len(text) and bool(_LETTER.match(text, at - 1) and _LETTER.match(text, at))


def _unfolded(at: int, folded: str, words: Sequence[int]) -> int:
    """Where the character of a word that stands at `at` of the folded text stands in the text."""
    return words[folded.count(" ", 0, at)] + at - (folded.rfind(" ", 0, at) + 1)
