"""Dates as mails say them, read against the day on which the mail was written."""

from __future__ import annotations

import re
from datetime import date, timedelta

from services.model.offline.lexicon import DAYS, MONTHS

_MONTH = "|".join(f"{month}|{month[:3]}" for month in MONTHS)
DATE = (
    rf"(?:\d{{4}}-\d{{2}}-\d{{2}}|(?:the )?\d{{1,2}}(?:st|nd|rd|th)?(?: of)? (?:{_MONTH})\b\.?(?:,? \d{{4}})?"
    rf"|(?:{_MONTH})\.? \d{{1,2}}(?:st|nd|rd|th)?\b(?:,? \d{{4}})?|(?:next |this )?(?:{'|'.join(DAYS)})|tomorrow"
    r"|(?:the )?end of (?:the |this )?(?:week|month|year))"
)
_ISO = re.compile(r"(\d{4})-(\d{2})-(\d{2})")
_DAY_FIRST = re.compile(rf"(\d{{1,2}})(?:st|nd|rd|th)?(?: of)? ({_MONTH})\.?(?:,? (\d{{4}}))?", re.I)
_MONTH_FIRST = re.compile(rf"({_MONTH})\.? (\d{{1,2}})(?:st|nd|rd|th)?(?:,? (\d{{4}}))?", re.I)


def read_date(text: str, written: date) -> date | None:
    """The calendar day that `text` (matching `DATE`) names; without a year the next such day from `written` on."""
    text = text.strip().lower()
    if match := _ISO.search(text):
        return _valid(int(match[1]), int(match[2]), int(match[3]))
    if match := _DAY_FIRST.search(text):
        return _day_of_year(int(match[1]), match[2], match[3], written)
    if match := _MONTH_FIRST.search(text):
        return _day_of_year(int(match[2]), match[1], match[3], written)
    return _relative(text, written)


def _day_of_year(day: int, month: str, year: str | None, written: date) -> date | None:
    number = next(i for i, name in enumerate(MONTHS, start=1) if name.startswith(month[:3]))
    if year:
        return _valid(int(year), number, day)
    this_year = _valid(written.year, number, day)
    return this_year if this_year and this_year >= written else _valid(written.year + 1, number, day)


def _relative(text: str, written: date) -> date | None:
    if text == "tomorrow":
        return written + timedelta(days=1)
    if text.endswith("week"):
        return written + timedelta(days=6 - written.weekday())
    if text.endswith("month"):
        return (written.replace(day=1) + timedelta(days=32)).replace(day=1) - timedelta(days=1)
    if text.endswith("year"):
        return date(written.year, 12, 31)
    weekday = next((i for i, name in enumerate(DAYS) if text.endswith(name)), None)
    if weekday is None:
        return None
    return written + timedelta(days=(weekday - written.weekday() - 1) % 7 + 1)


def _valid(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:
        return None
