"""How literally a sentence says a value. Pure.

A model normalises: "1,500 seats" becomes `1500`, "3 pm" becomes `15:00`. Numbers are the same in whatever way they are
written; a date is known by its day, or by a phrase that means it when the mail is written; of other words half have to
be said, in any form.
"""

from __future__ import annotations

import re
from datetime import datetime, timedelta

from services.mail.reply_text import without_quoted
from services.memory.quotes import Span
from services.memory.temporal import window_of

_SENTENCE_ENDS = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])|\n\s*\n")
_WORD = re.compile(r"\w+")
_GROUPED = re.compile(r"(?<![\w.,])\d{1,3}(?:([.,'’ \u00a0\u202f])\d{3})(?:\1\d{3})*(?!\d|[.,]\d)")
_CENTS = re.compile(r"(?<=\d)[.,]00(?![\d.,]{0,40}\d)")
_HOUR = re.compile(r"(?<![\w:.,])(\d{1,2})(?:[:.](\d\d))?\s?([ap])\.?m\b\.?", re.IGNORECASE)
_BARE_HOUR = re.compile(r"(?<![\w:.,])(\d{1,2})(?:\s?(?:Uhr|h|godz\w*|時)|(?=\s+o['’]clock))(?!\w)", re.IGNORECASE)
_UNIT = re.compile(r"(?<=\d)(?=[^\W\d_])|(?<=[^\W\d_])(?=\d)")
_ISO_DATE = re.compile(r"^\d{4}-\d\d-\d\d$")
_STEM = 4  # letters that two forms of a word share


def sentence_around(span: Span, text: str) -> str:
    """The whole sentences that a span stands in."""
    begins = [found.end() for found in _SENTENCE_ENDS.finditer(text) if found.end() <= span.start]
    ends = [found.start() for found in _SENTENCE_ENDS.finditer(text) if found.start() >= span.end]
    return text[begins[-1] if begins else 0 : ends[0] if ends else len(text)].strip()


def is_literal(value: str, span: Span, text: str, written: datetime | None = None) -> bool:
    """Whether the sentence says the value itself: every number of it, and at least half of its words."""
    sentence = sentence_around(span, without_quoted(text))
    said = {word for form in (sentence, _plain(sentence)) for word in _words(form)}
    if _ISO_DATE.match(value):
        by_day = str(int(value[8:])) in {word.lstrip("0").rstrip("thsndr") for word in said}
        return by_day or (written is not None and _means(sentence, value, written))
    return _is_said(_words(value), said) or _is_said(_words(_plain(value)), said)


def _means(sentence: str, date: str, written: datetime) -> bool:
    """Whether a phrase of time ("next Friday") means this very day."""
    window = window_of(sentence, written)
    one_day = window is not None and window.end - window.start <= timedelta(days=1)
    return window is not None and one_day and window.start.date().isoformat() == date


def _is_said(wanted: list[str], said: set[str]) -> bool:
    stems = {word[:_STEM] for word in said if len(word) >= _STEM}
    found = [word in said or (len(word) >= _STEM and word[:_STEM] in stems) for word in wanted]
    numbers = [hit for word, hit in zip(wanted, found, strict=True) if word.isdigit()]
    return all(numbers) and 2 * sum(found) >= len(wanted)


def numbers_in(text: str) -> set[str]:
    """The numbers of a text, in whatever way they are written, without leading zeros."""
    forms = (text, _plain(text))
    return {found.lstrip("0") or "0" for form in forms for found in re.findall(r"\d+", form)} if text else set()


def _words(text: str) -> list[str]:
    return [word.casefold() for word in _WORD.findall(text)]


def _plain(text: str) -> str:
    """The text with its numbers without separators, empty cents and units, and its hours on a clock of 24."""
    text = _HOUR.sub(_on_24, text)
    text = _BARE_HOUR.sub(lambda found: f"{int(found[1]):02}:00", text)
    text = _GROUPED.sub(lambda found: re.sub(r"\D", "", found[0]), _CENTS.sub("", text))
    return _UNIT.sub(" ", text)


def _on_24(found: re.Match[str]) -> str:
    hour = int(found[1]) % 12 + (12 if found[3] in "pP" else 0)
    return f"{hour:02}:{found[2] or '00'}"
