"""What a phrase of time means: for each kind a function of its match, the language and now.

Pure. A month, a weekday or a holiday without a year is the latest one that has begun, because customers write about
what has happened, unless the phrase says which. A function raises ValueError for what the calendar does not know
("30 February").
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from re import Match
from typing import cast

from services.memory.periods import SEASONS, Unit, Window, day_of, holiday_of, month_of, period, season_of, shifted
from services.memory.phrases.language import Kind, Language

Rule = Callable[[Match[str], datetime, Language], Window]


def _numeric(match: Match[str], now: datetime, language: Language) -> Window:
    found = match.groupdict()
    month, day = int(found["m"]), int(found["day"])
    if found.get("year"):
        return day_of(now, int(found["year"]), month, day)
    return _yearly(lambda year: day_of(now, year, month, day), match, now)


def _date(match: Match[str], now: datetime, language: Language) -> Window:
    month, day = language.value("month", match["month"]), int(match["day"])
    return _in_year(lambda year: day_of(now, year, month, day), match, now)


def _month(match: Match[str], now: datetime, language: Language) -> Window:
    month = language.value("month", match["month"])
    return _in_year(lambda year: month_of(now, year, month), match, now)


def _year(match: Match[str], now: datetime, language: Language) -> Window:
    return period("year", now.replace(year=int(match["year"]), month=1, day=1))


def _season(match: Match[str], now: datetime, language: Language) -> Window:
    month = SEASONS[language.value("season", match["season"])]
    return _in_year(lambda year: season_of(now, year, month), match, now)


def _holiday(match: Match[str], now: datetime, language: Language) -> Window:
    name = language.value("holiday", match["holiday"])
    return _in_year(lambda year: holiday_of(now, name, year), match, now)


def _weekday(match: Match[str], now: datetime, language: Language) -> Window:
    """The one before now; "last Tuesday" is not yesterday, which has a word of its own."""
    weekday, which = language.value("weekday", match["weekday"]), _which(match)
    if match.groupdict().get("lastweek"):
        return period("day", shifted(period("week", now).start, "day", weekday - 7))
    back = (now.weekday() - weekday) % 7 or 7
    if which > 0:
        return period("day", shifted(now, "day", 7 - back or 7))
    return period("day", shifted(now, "day", -8 if which < 0 and back == 1 else -back))


def _fixed(match: Match[str], now: datetime, language: Language) -> Window:
    unit, offset = language.value("fixed", match["fixed"]).split()
    return _unit_from_now(unit, int(offset), now)


def _one(match: Match[str], now: datetime, language: Language) -> Window:
    return _unit_from_now(language.value("unit", match["unit"]), _which(match), now)


def _some(match: Match[str], now: datetime, language: Language) -> Window:
    return Window(shifted(now, _counted(match, language), -_count(match, language)), now)


def _ago(match: Match[str], now: datetime, language: Language) -> Window:
    unit = _counted(match, language)
    return period(unit, shifted(now, unit, -_count(match, language)))


RULES: dict[Kind, Rule] = {
    "numeric": _numeric,
    "date": _date,
    "month": _month,
    "year": _year,
    "season": _season,
    "holiday": _holiday,
    "weekday": _weekday,
    "fixed": _fixed,
    "one": _one,
    "some": _some,
    "ago": _ago,
}


def _in_year(of_year: Callable[[int], Window], match: Match[str], now: datetime) -> Window:
    written = match.groupdict().get("year")
    return of_year(int(written)) if written else _yearly(of_year, match, now)


def _yearly(of_year: Callable[[int], Window], match: Match[str], now: datetime) -> Window:
    """The occurrence of a yearly window that began last; the one before, or after, where the phrase says so."""
    this = of_year(now.year)
    latest = this if this.start <= now else of_year(now.year - 1)
    which = _which(match)
    if which > 0:
        return of_year(latest.start.year + 1)
    return of_year(latest.start.year - 1) if which < 0 and latest.end > now else latest


def _which(match: Match[str]) -> int:
    """-1 for the last, 1 for the next, 0 where the phrase says neither."""
    found = match.groupdict()
    return -1 if found.get("last") else 1 if found.get("next") else 0


def _unit_from_now(unit: str, offset: int, now: datetime) -> Window:
    if unit == "weekend":
        monday = shifted(period("week", now).start, "week", offset)
        return Window(shifted(monday, "day", 5), shifted(monday, "day", 7))
    return period(cast(Unit, unit), shifted(period(cast(Unit, unit), now).start, cast(Unit, unit), offset))


def _counted(match: Match[str], language: Language) -> Unit:
    unit = language.value("unit", match["unit"])
    if unit == "weekend":
        raise ValueError(unit)
    return cast(Unit, unit)


def _count(match: Match[str], language: Language) -> int:
    written = match.groupdict().get("count")
    return int(language.value("count", written) or written) if written else 1
