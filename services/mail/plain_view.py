"""A text as a reader sees it, with the way back: compatibility forms folded (NFKC), digits of every script as ASCII,
unseen characters and the marks of letters left out. Patterns match the view; what they find is replaced in the text
itself.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache

Span = tuple[int, int]

_BREAK = re.compile(r"(?<=[\w+/=.-])\r?\n(?:>[> ]{0,20})?(?=([\w+/=.-]{1,200}))")
_LONG = re.compile(r"(?<![\w+/=.-])[\w+/=.-]{16,}+\Z")


@dataclass(frozen=True, slots=True)
class View:
    """The text that is matched, and for each of its characters the place in the text that it was made of."""

    text: str
    places: tuple[int, ...] | None  # None: one to one
    length: int

    def span(self, start: int, end: int) -> Span:
        """Where in the text a stretch of the view stands."""
        if self.places is None:
            return start, end
        return self.places[start], self.places[end - 1] + 1 if end > start else self.places[start]


def view_of(text: str) -> View:
    """The view of a text."""
    if text.isascii():
        return View(text, None, len(text))
    seen = [_seen(char) for char in text]
    return View("".join(seen), tuple(place for place, one in enumerate(seen) for _ in one), len(text))


def unwrapped(view: View) -> View:
    """The view with words put together that a line break cut: long ones, whose rest looks no more like a word."""
    cuts = [found.span() for found in _BREAK.finditer(view.text) if _goes_on(view.text, found)]
    if not cuts:
        return view
    kept = list(_outside(cuts, len(view.text)))
    places = tuple(kept if view.places is None else (view.places[at] for at in kept))
    return View("".join(view.text[at] for at in kept), places, view.length)


def _outside(cuts: Iterable[Span], length: int) -> Iterator[int]:
    """The places that no cut holds; the cuts are in order and apart from each other."""
    at = 0
    for start, end in cuts:
        yield from range(at, start)
        at = end
    yield from range(at, length)


def replaced(text: str, found: Iterable[tuple[Span, str]]) -> str:
    """The text with each stretch replaced; of two that overlap the earlier one counts."""
    out, at = [], 0
    for (start, end), put in sorted(found):
        if start >= at:
            out += [text[at:start], put]
            at = end
    return "".join([*out, text[at:]])


def substituted(text: str, view: View, pattern: re.Pattern[str], put: Callable[[re.Match[str]], str | None]) -> str:
    """The text with what a pattern finds in its view replaced; None leaves it as it is."""
    said = [(view.span(*match.span()), put(match)) for match in pattern.finditer(view.text)]
    return replaced(text, [(span, new) for span, new in said if new is not None])


def _goes_on(text: str, found: re.Match[str]) -> bool:
    rest = found[1]
    return bool(_LONG.search(text[max(0, found.start() - 200) : found.start()])) and (
        bool(re.search(r"[\d_]", rest)) or not (rest.islower() or rest.istitle())
    )


@lru_cache(maxsize=4096)
def _seen(char: str) -> str:
    if unicodedata.category(char) in ("Cf", "Mn", "Me") or char in "\u115f\u1160\u3164\uffa0":
        return ""
    if char == "\u2800":  # a braille pattern without a dot
        return " "
    digit = unicodedata.digit(char, None)
    return str(digit) if digit is not None else unicodedata.normalize("NFKC", char)
