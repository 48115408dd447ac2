"""Temporal phrases in a text ("last month", "vor Weihnachten", "en mars", "2026-05-04") as a date window.

Pure: everything is relative to the `now` that is given, in its time zone. The first phrase of a text counts; of several
that begin together, the longest. Only the languages that the text may be in are asked. A false window hides the right
fact, so that an ordinary word, a name, a greeting or a deadline is never one. The phrases: `phrases`.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import islice

from services.memory.periods import Window, shifted
from services.memory.phrases.language import Bound, Kind, Language, Phrase, folded, spoken
from services.memory.phrases.meaning import RULES

LONG_AGO = 100  # years: where "before X" begins
LOOK_BACK = 80  # characters before a phrase that may say something about it


@dataclass(frozen=True, slots=True)
class _Found:
    """A phrase in a text, from `start` to `end`, and what it means by itself."""

    start: int
    end: int
    kind: Kind
    window: Window
    language: Language


def window_of(text: str, now: datetime) -> Window | None:
    """The window that a text speaks of, or None; `now` has to be aware."""
    return timed(text, now)[0]


def timed(text: str, now: datetime) -> tuple[Window | None, str]:
    """The window that a text speaks of, and the text without the phrase that says so; None and the text as it is."""
    plain = folded(text)
    phrases = ((phrase, language) for language in spoken(plain) for phrase in language.phrases)
    found = [one for phrase, language in phrases for one in _first(phrase, language, plain, now)]
    first = min(found, key=lambda one: (one.start, -one.end), default=None)
    window = _bounded(first, plain, now) if first else None
    return (None, text) if first is None or window is None else (window, _without(first, plain, text))


def days_in(text: str, now: datetime) -> list[tuple[int, int, Window]]:
    """The dates of a text, each with where it begins and ends; of a text that is not composed, none."""
    plain = folded(text)
    if len(plain) != len(text):
        return []
    dated = ((one, lang) for lang in spoken(plain) for one in lang.phrases if one.kind in ("numeric", "date"))
    found = (one for phrase, language in dated for one in _all(phrase, language, plain, now))
    return [(one.start, one.end, one.window) for one in sorted(found, key=lambda one: (one.start, -one.end))]


def _without(found: _Found, plain: str, text: str) -> str:
    """The text without a phrase, and without the preposition that leads to it."""
    composed, leading = unicodedata.normalize("NFC", text), found.language.leading
    before = composed[: found.start]
    lead = leading.search(_before(plain, found.start)) if leading else None
    return before[: len(before) - len(lead.group())] + composed[found.end :] if lead else before + composed[found.end :]


def _first(phrase: Phrase, language: Language, plain: str, now: datetime) -> Iterator[_Found]:
    """The first of them."""
    return islice(_all(phrase, language, plain, now), 1)


def _all(phrase: Phrase, language: Language, plain: str, now: datetime) -> Iterator[_Found]:
    """The phrase's matches that stand where they have to and that the calendar knows ("30 February" is none)."""
    for match in phrase.pattern.finditer(plain):
        before = _before(plain, match.start())
        if (phrase.lead and not phrase.lead.search(before)) or (language.unless and language.unless.search(before)):
            continue
        try:
            yield _Found(match.start(), match.end(), phrase.kind, RULES[phrase.kind](match, now, language), language)
        except (ValueError, OverflowError):
            continue


def _bounded(found: _Found, plain: str, now: datetime) -> Window | None:
    """The window opened to one side by the word before or behind the phrase; None for a deadline ("by Monday")."""
    window, bound = found.window, _bound(found, plain)
    to_come = found.kind == "weekday" or window.start > now
    match bound:
        case None:
            return window
        case "by":
            return None
        case "before" | "until":
            end = window.start if bound == "before" else window.end
            return None if to_come else Window(shifted(window.start, "year", -LONG_AGO), end)
        case "after":
            return Window(window.end, now) if window.end < now else None
        case "since":
            return Window(window.start, max(now, window.end)) if window.start <= now else None


def _bound(found: _Found, plain: str) -> Bound | None:
    before, behind, language = _before(plain, found.start), plain[found.end :], found.language
    opened = [bound for bound, pattern in language.bounds if pattern.search(before)]
    opened += [bound for bound, pattern in language.bounds_behind if pattern.match(behind)]
    return next(iter(opened), None)


def _before(plain: str, start: int) -> str:
    return plain[max(0, start - LOOK_BACK) : start]
