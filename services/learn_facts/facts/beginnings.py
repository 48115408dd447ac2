"""Whether a clause names a day from which something will be so, and that is still to come. Pure.

"From 1 June we have 60 users" is said in the present, and is not so yet. Of a day without a year the nearest is meant:
in January "from 1 June" is to come, and "from 1 December" is over. What begins within a week is as good as so.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime, timedelta
from functools import cache
from re import Match, Pattern

from services.core.wording import lines_of
from services.learn_facts.facts.clauses import NAME, Clause
from services.memory import wording

AS_GOOD_AS_SO = timedelta(days=7)
_MONTHS = (
    "jan(?:uary|uar|vier|uari)?|enero|gennaio|janeiro|stycznia|января|ocak",
    "feb(?:ruary|ruar|ruari)?|fevrier|febrero|febbraio|fevereiro|lutego|февраля|subat",
    "mar(?:ch|z)|mars|marzo|marco|maart|marca|марта|mart",
    "apr(?:il)?|avril|abril|aprile|kwietnia|апреля|nisan",
    "may|mai|mayo|maggio|maio|mei|maja|мая|may[ıi]s",
    "june?|juni|juin|junio|giugno|junho|czerwca|июня|haziran",
    "july?|juli|juillet|julio|luglio|julho|lipca|июля|temmuz",
    "aug(?:ust|ustus)?|aout|agosto|sierpnia|августа|agustos",
    "sep(?:t|tember)?|septembre|septiembre|settembre|setembro|wrzesnia|сентября|eylul",
    "oct(?:ober)?|oktober|octobre|octubre|ottobre|outubro|pazdziernika|октября|ekim",
    "nov(?:ember)?|novembre|noviembre|novembro|listopada|ноября|kas[ıi]m",
    "dec(?:ember)?|dezember|decembre|diciembre|dicembre|dezembro|grudnia|декабря|aral[ıi]k",
)  # as they are said behind "from", folded


def begins_later(clause: Clause, written: datetime) -> bool:
    """Whether a clause, or one beside it that says nothing else, names a day to come from which it is so."""
    if clause.dated:
        return False
    near = [one.replace(NAME, "") for one in (*clause.before[-1:], *clause.after[:1])]
    beside = [one for one in near if _days().fullmatch(one.strip(" .!"))]
    return any(_is_to_come(found, written) for one in (clause.words, *beside) for found in _days().finditer(one))


def _is_to_come(found: Match[str], written: datetime) -> bool:
    return any(start > written + AS_GOOD_AS_SO for start in _start(found, written))


def _start(found: Match[str], written: datetime) -> Iterator[datetime]:
    """The day that is named, the nearest where it names no year; none where the calendar has no such day."""
    told = {name.rstrip("_"): text for name, text in found.groupdict().items() if text}
    month = int(told["number"]) if "number" in told else _month(told["month"])
    years = [int(told["year"])] if "year" in told else [written.year + one for one in (-1, 0, 1)]
    days = [_day(year, month, int(told.get("day", 1)), written) for year in years]
    yield from sorted((one for one in days if one), key=lambda day: abs(day - written))[:1]


def _day(year: int, month: int, day: int, written: datetime) -> datetime | None:
    try:
        return written.replace(year=year, month=month, day=day)
    except ValueError:
        return None


def _month(name: str) -> int:
    return next(number for number, names in enumerate(_MONTHS, start=1) if re.fullmatch(names, name))


@cache
def _days() -> Pattern[str]:
    starts, names = "|".join(lines_of(wording.__name__, "starts")), "|".join(_MONTHS)
    day, year = r"(?P<day{0}>\d{{1,2}})(?:st|nd|rd|th|er|º|°|\.)?", r"(?:,? (?:de )?(?P<year{0}>20\d\d))?"
    day_first = rf"{day.format('')} (?:of |de |d['’])?(?P<month>{names})\b{year.format('')}"
    month_first = rf"(?P<month_>{names})\b(?: {day.format('_')}(?!\d))?{year.format('_')}"
    numbers = r"(?P<number>\d{1,2})月(?:(?P<day__>\d{1,2})日)?"
    return re.compile(rf"(?:{starts}) ?(?:{day_first}|{month_first})|{numbers}(?:から|より|起|开始)")
