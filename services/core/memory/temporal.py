"""Temporal phrases in a text ("last month", "before Christmas", "in March", "2026-05-04") as a date window.

Pure: everything is relative to the `now` that is given, in its time zone. The first phrase of a text counts; of several
that begin together, the longest. What each phrase means: `phrases`.
"""

from __future__ import annotations

import re
from datetime import datetime
from re import Match

from services.core.memory.periods import Window, shifted
from services.core.memory.phrases import RULES, Rule

LONG_AGO = 100  # years: where "before X" begins

_BOUND = re.compile(r"\b(before|until|till|prior to|by|after|since)(?: the)?\s*$", re.IGNORECASE)
_LEADING = re.compile(
    r"\b(?:before|until|till|prior to|after|since|in|on|from|during|over|of|around|at)(?: the)?\s*$", re.I
)


def window_of(text: str, now: datetime) -> Window | None:
    """The window that a text speaks of, or None; `now` has to be aware."""
    return timed(text, now)[0]


def timed(text: str, now: datetime) -> tuple[Window | None, str]:
    """The window that a text speaks of, and the text without the phrase that says so; None and the text as it is."""
    found = [hit for hit in (_first(pattern, rule, text, now) for pattern, rule in RULES) if hit is not None]
    if not found:
        return None, text
    phrase, window = min(found, key=lambda hit: (hit[0].start(), -hit[0].end()))
    bounded = _bounded(text[: phrase.start()], window, now)
    if bounded is None:
        return None, text
    return bounded, _LEADING.sub("", text[: phrase.start()]) + text[phrase.end() :]


def _first(pattern: re.Pattern[str], rule: Rule, text: str, now: datetime) -> tuple[Match[str], Window] | None:
    """The pattern's first match that the calendar knows ("30 February" is none)."""
    for match in pattern.finditer(text):
        try:
            return match, rule(match, now)
        except ValueError:
            continue
    return None


def _bounded(before: str, window: Window, now: datetime) -> Window | None:
    """The window opened to one side by the preposition before the phrase; None for a deadline ("by Monday")."""
    bound = _BOUND.search(before)
    if bound is None:
        return window
    match bound[1].lower():
        case "before" | "prior to":
            return Window(shifted(window.start, "year", -LONG_AGO), window.start)
        case "by":
            return None
        case "until" | "till":
            return Window(shifted(window.start, "year", -LONG_AGO), window.end)
        case "after":
            return Window(window.end, max(now, window.end))
        case _:
            return Window(window.start, max(now, window.end))
