"""Time that counts: adding and measuring hours of an office, whatever the clock on its wall does.

Everything is computed on instants; the wall's times of a day become instants in the office's zone. So a day on which
the clock changes has an hour more or less, if the office is open while it does. A wall time that the change skips is
taken as if the clock had not yet changed, one that it repeats as the first of the two (PEP 495, fold 0).
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta, tzinfo
from itertools import count

from services.core.settings import OfficeHours

NOTHING = timedelta(0)
DAY = timedelta(days=1)


def add(start: datetime, work: timedelta, hours: OfficeHours) -> datetime:
    """The instant at which `work` of open time has passed since `start`, in UTC."""
    if not hours.hours:
        return start.astimezone(UTC) + work
    left = work
    for begin, end in _open_from(start, hours):
        if end - begin >= left:
            return begin + left
        left -= end - begin
    raise AssertionError("an office with hours opens again")


def between(start: datetime, end: datetime, hours: OfficeHours) -> timedelta:
    """The open time from `start` to `end`; none where `end` is not later."""
    if not hours.hours:
        return max(NOTHING, end - start)
    passed = NOTHING
    for begin, until in _open_from(start, hours):
        if begin >= end:
            return passed
        passed += min(until, end) - begin
    raise AssertionError("an office with hours opens again")


def is_open(at: datetime, hours: OfficeHours) -> bool:
    """Whether the office is open at an instant; without hours it always is."""
    return not hours.hours or next(_open_from(at, hours))[0] == at


def _open_from(start: datetime, hours: OfficeHours) -> Iterator[tuple[datetime, datetime]]:
    """The open spans from `start` on, for ever, as instants in UTC; the first one is cut at `start`."""
    begin = start.astimezone(UTC)
    week, zone, closed = hours.week, hours.zone, frozenset(hours.holidays)
    today = start.astimezone(zone).date() - DAY
    for ahead in count():
        day = today + ahead * DAY
        if day in closed:
            continue
        for opens, closes in week[day.weekday()]:
            span = max(begin, _instant(day, opens, zone)), _instant(day, closes, zone)
            if span[0] < span[1]:
                yield span


def _instant(day: date, minutes: int, zone: tzinfo) -> datetime:
    """A time on the wall of a day, as an instant."""
    wall = datetime.combine(day, datetime.min.time()) + timedelta(minutes=minutes)
    return wall.replace(tzinfo=zone).astimezone(UTC)
