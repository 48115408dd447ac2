"""Days, weeks, months, quarters, years, seasons and holidays as windows in the time zone of a given now.

Pure. Weeks begin on Monday (ISO 8601), seasons are the meteorological ones of the northern hemisphere.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

Unit = Literal["day", "week", "month", "quarter", "year"]

SEASONS = {"spring": 3, "summer": 6, "autumn": 9, "winter": 12}
HOLIDAYS = {
    "new year": (1, 1), "epiphany": (1, 6), "orthodox christmas": (1, 7), "valentine": (2, 14), "women's day": (3, 8),
    "labour day": (5, 1), "assumption": (8, 15), "halloween": (10, 31), "all saints": (11, 1),
    "christmas eve": (12, 24), "christmas": (12, 25), "new year's eve": (12, 31),
}  # fmt: skip
FROM_EASTER = {"good friday": -2, "easter": 0, "easter monday": 1, "ascension": 39, "pentecost": 49}  # days
FROM_THANKSGIVING = {"thanksgiving": 0, "black friday": 1}


@dataclass(frozen=True, slots=True)
class Window:
    """From `start` (inclusive) to `end` (exclusive), both aware."""

    start: datetime
    end: datetime


def period(unit: Unit, moment: datetime) -> Window:
    """The day, week, month, quarter or year that a moment lies in."""
    day = moment.replace(hour=0, minute=0, second=0, microsecond=0)
    starts = {
        "day": day,
        "week": day - timedelta(days=day.weekday()),
        "month": day.replace(day=1),
        "quarter": day.replace(month=day.month - (day.month - 1) % 3, day=1),
        "year": day.replace(month=1, day=1),
    }
    return Window(starts[unit], shifted(starts[unit], unit, 1))


def shifted(moment: datetime, unit: Unit, count: int) -> datetime:
    """The moment `count` units later (earlier, where negative); a day that a month lacks becomes its last."""
    if unit in ("day", "week"):
        return moment + timedelta(days=count * (7 if unit == "week" else 1))
    months = moment.year * 12 + moment.month - 1 + count * {"month": 1, "quarter": 3, "year": 12}[unit]
    first = moment.replace(year=months // 12, month=months % 12 + 1, day=1)
    length = (first.replace(year=(months + 1) // 12, month=(months + 1) % 12 + 1) - first).days
    return first.replace(day=min(moment.day, length))


def day_of(now: datetime, year: int, month: int, day: int) -> Window:
    """One day in now's time zone; ValueError where the calendar has no such day."""
    return period("day", now.replace(year=year, month=month, day=day))


def month_of(now: datetime, year: int, month: int) -> Window:
    """One month in now's time zone."""
    return period("month", now.replace(year=year, month=month, day=1))


def season_of(now: datetime, year: int, month: int) -> Window:
    """The three months from `month` of `year`."""
    start = month_of(now, year, month).start
    return Window(start, shifted(start, "quarter", 1))


def holiday_of(now: datetime, name: str, year: int) -> Window:
    """The day of a holiday in one year."""
    if name in FROM_EASTER:
        return period("day", shifted(day_of(now, year, *_easter(year)).start, "day", FROM_EASTER[name]))
    if name in FROM_THANKSGIVING:
        thursday = 22 + (3 - datetime(year, 11, 1).weekday()) % 7  # noqa: DTZ001  (a weekday needs no zone)
        return day_of(now, year, 11, thursday + FROM_THANKSGIVING[name])
    return day_of(now, year, *HOLIDAYS[name])


def _easter(year: int) -> tuple[int, int]:
    """Month and day of the Gregorian Easter Sunday (Meeus, Jones and Butcher)."""
    a, b, c = year % 19, year // 100, year % 100
    d = (19 * a + b - b // 4 - (b - (b + 8) // 25 + 1) // 3 + 15) % 30
    e = (32 + 2 * (b % 4) + 2 * (c // 4) - d - c % 4) % 7
    f = d + e - 7 * ((a + 11 * d + 22 * e) // 451) + 114
    return f // 31, f % 31 + 1
