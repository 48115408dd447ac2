"""Phrases of time and the window that each means: a pattern and a function of its match for every kind.

Pure. A month, a weekday or a holiday without a year is the latest one that has begun, because customers write about
what has happened. A rule raises ValueError for what the calendar does not know ("30 February").
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime
from re import Match
from typing import cast

from services.core.memory.periods import (
    HOLIDAYS,
    MONTHS,
    MOVABLE,
    SEASONS,
    WEEKDAYS,
    Unit,
    Window,
    day_of,
    holiday_of,
    month_of,
    period,
    season_of,
    shifted,
)

Rule = Callable[[Match[str], datetime], Window]

NUMBERS = {"a": 1, "an": 1, "one": 1, "two": 2, "couple of": 2, "a couple of": 2, "three": 3, "few": 3, "a few": 3,
           "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10, "twelve": 12}  # fmt: skip
NAMED_DAYS = {
    "the day before yesterday": -2, "yesterday": -1, "last night": -1, "today": 0, "tonight": 0, "tomorrow": 1,
}  # fmt: skip

_MONTH = rf"(?P<month>{'|'.join(f'{name}|{name[:3]}' for name in MONTHS)}|sept)\.?"
_MODAL = r"(?!may (?:be|have|not|also|still|well|need|want|get|go|come|take|use|help|work|cause|affect|require)\b)"
_DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_YEAR = r"(?P<year>(?:19|20)\d\d)"
_UNIT = r"(?P<unit>day|week|month|quarter|year)"
_COUNT = rf"(?P<count>\d{{1,3}}|{'|'.join(sorted(NUMBERS, key=len, reverse=True))})"
_WHICH = r"(?P<which>last|previous|past|this|current|next|coming)"
_SEASON = r"(?P<season>spring|summer|autumn|fall|winter)"
_HOLIDAY = rf"(?P<holiday>{'|'.join(sorted((*HOLIDAYS, *MOVABLE), key=len, reverse=True))})"
# "May I ..." and "June called": a bare month, season or year needs one of these words before it.
_LEADS = (
    "in|of|since|before|after|until|till|during|from|around|early|mid|late|to|between|in the|of the|over the|during the"
)
_LED = "(?:{})".format("|".join(rf"(?<=\b{lead}[ -])" for lead in _LEADS.split("|")))
_OFFSET = {"last": -1, "previous": -1, "past": -1, "this": 0, "current": 0, "next": 1, "coming": 1}


def _iso(match: Match[str], now: datetime) -> Window:
    return day_of(now, int(match["year"]), int(match["m"]), int(match["day"]))


def _date(match: Match[str], now: datetime) -> Window:
    month, day = _month_number(match), int(match["day"])
    if match["year"]:
        return day_of(now, int(match["year"]), month, day)
    return _latest(lambda year: day_of(now, year, month, day), now)


def _month(match: Match[str], now: datetime) -> Window:
    month = _month_number(match)
    if match["year"]:
        return month_of(now, int(match["year"]), month)
    latest = _latest(lambda year: month_of(now, year, month), now)
    running = match["which"] and _OFFSET[match["which"].lower()] < 0 and latest.end > now
    return month_of(now, latest.start.year - 1, month) if running else latest


def _year(match: Match[str], now: datetime) -> Window:
    return period("year", now.replace(year=int(match["year"]), month=1, day=1))


def _season(match: Match[str], now: datetime) -> Window:
    month = SEASONS[match["season"].lower()]
    if match["year"]:
        return season_of(now, int(match["year"]), month)
    return _latest(lambda year: season_of(now, year, month), now)


def _holiday(match: Match[str], now: datetime) -> Window:
    name = match["holiday"].lower()
    if match["year"]:
        return holiday_of(now, name, int(match["year"]))
    return _latest(lambda year: holiday_of(now, name, year), now)


def _weekday(match: Match[str], now: datetime) -> Window:
    back = (now.weekday() - WEEKDAYS.index(match["weekday"].lower())) % 7
    return period("day", shifted(now, "day", -(back or 7)))


def _named_day(match: Match[str], now: datetime) -> Window:
    return period("day", shifted(now, "day", NAMED_DAYS[match[0].lower()]))


def _weekend(match: Match[str], now: datetime) -> Window:
    monday = shifted(period("week", now).start, "week", _OFFSET[match["which"].lower()])
    return Window(shifted(monday, "day", 5), shifted(monday, "day", 7))


def _one_unit(match: Match[str], now: datetime) -> Window:
    unit = _unit(match)
    return period(unit, shifted(period(unit, now).start, unit, _OFFSET[match["which"].lower()]))


def _some_units(match: Match[str], now: datetime) -> Window:
    return Window(shifted(now, _unit(match), -_count(match)), now)


def _ago(match: Match[str], now: datetime) -> Window:
    return period(_unit(match), shifted(now, _unit(match), -_count(match)))


def _latest(of_year: Callable[[int], Window], now: datetime) -> Window:
    """The occurrence of a yearly window that began last."""
    this = of_year(now.year)
    return this if this.start <= now else of_year(now.year - 1)


def _month_number(match: Match[str]) -> int:
    return next(n for n, name in enumerate(MONTHS, start=1) if name.startswith(match["month"].lower()[:3]))


def _unit(match: Match[str]) -> Unit:
    return cast(Unit, match["unit"].lower())


def _count(match: Match[str]) -> int:
    written = match["count"].lower()
    return int(written) if written.isdigit() else NUMBERS[written]


def _rule(pattern: str, rule: Rule) -> tuple[re.Pattern[str], Rule]:
    return re.compile(rf"(?<!\w)(?:{pattern})(?!\w)", re.IGNORECASE), rule


RULES: tuple[tuple[re.Pattern[str], Rule], ...] = (
    _rule(rf"{_YEAR}-(?P<m>\d\d)-(?P<day>\d\d)", _iso),
    _rule(rf"(?P<day>\d{{1,2}})\.(?P<m>\d{{1,2}})\.{_YEAR}", _iso),
    _rule(rf"{_DAY} (?:of )?{_MODAL}{_MONTH}(?:,? {_YEAR})?", _date),
    _rule(rf"{_MONTH} {_DAY}(?:,? {_YEAR})?", _date),
    _rule(rf"(?:{_WHICH} )?{_MONTH},? {_YEAR}", _month),
    _rule(rf"{_WHICH} {_MONTH}(?P<year>)", _month),
    _rule(rf"{_LED}(?P<which>){_MONTH}(?P<year>)", _month),
    _rule(rf"{_LED}{_YEAR}", _year),
    _rule(rf"(?:{_WHICH} |{_LED}){_SEASON}(?: (?:of )?{_YEAR})?", _season),
    _rule(rf"(?:{_WHICH} )?{_HOLIDAY}(?: (?:of )?{_YEAR})?", _holiday),
    _rule(rf"(?:(?:on|last|this|past) )?(?P<weekday>{'|'.join(WEEKDAYS)})", _weekday),
    _rule("|".join(NAMED_DAYS), _named_day),
    _rule(rf"{_WHICH} weekend", _weekend),
    _rule(rf"{_WHICH} {_UNIT}", _one_unit),
    _rule(rf"(?:last|past|previous) {_COUNT} {_UNIT}s?", _some_units),
    _rule(rf"{_COUNT} {_UNIT}s? (?:ago|earlier|back)", _ago),
)
