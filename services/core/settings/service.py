"""Service levels: how soon a customer is to have an answer, and the hours in which that time runs."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date
from typing import Literal
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import Field, field_validator

from services.core.settings.group import Group

Weekday = Literal["mon", "tue", "wed", "thu", "fri", "sat", "sun"]
Span = tuple[int, int]  # minutes since midnight on the clock on the wall, the end exclusive

WEEKDAYS: tuple[Weekday, ...] = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_SPAN = re.compile(r"(\d\d):(\d\d)\s*-\s*(\d\d):(\d\d)")


class OfficeHours(Group):
    """The hours in which deadlines run. By default every hour counts."""

    time_zone: str = Field("UTC", description="a name of the IANA database, such as 'Europe/Berlin'")
    hours: dict[Weekday, str] = Field(
        {}, description="{ mon = '09:00-12:00, 13:00-17:00', ... }; a day that is missing is closed; empty: every hour"
    )
    holidays: tuple[date, ...] = Field((), description="closed days, such as 2026-12-25")

    @field_validator("time_zone")
    @classmethod
    def _known(cls, name: str) -> str:
        try:
            ZoneInfo(name)
        except (ZoneInfoNotFoundError, ValueError, OSError) as error:
            raise ValueError(f"there is no time zone {name!r}; take a name such as 'Europe/Berlin'") from error
        return name

    @field_validator("hours")
    @classmethod
    def _readable(cls, hours: dict[Weekday, str]) -> dict[Weekday, str]:
        spans = [span for day, said in hours.items() for span in spans_of(day, said)]
        if hours and sum(end - begin for begin, end in spans) < 60:
            raise ValueError(
                "an office that is open for less than an hour a week keeps no deadline; leave the hours out"
            )
        return hours

    @property
    def zone(self) -> ZoneInfo:
        """The zone of the clock on the wall."""
        return ZoneInfo(self.time_zone)

    @property
    def week(self) -> Mapping[int, tuple[Span, ...]]:
        """The open spans of each weekday (Monday is 0), in order; none for a closed day."""
        return {number: spans_of(day, self.hours.get(day, "")) for number, day in enumerate(WEEKDAYS)}


def spans_of(day: str, said: str) -> tuple[Span, ...]:
    """'09:00-12:00, 13:00-17:00' as minutes; () for "". Raises `ValueError` for what is no time, or out of order."""
    spans: list[Span] = []
    for part in filter(None, (one.strip() for one in said.split(","))):
        found = _SPAN.fullmatch(part)
        if not found:
            raise ValueError(f"{day}: {part!r} is no span of hours; write '09:00-17:00'")
        numbers = [int(one) for one in found.groups()]
        begin, end = 60 * numbers[0] + numbers[1], 60 * numbers[2] + numbers[3]
        if max(numbers[1], numbers[3]) > 59 or end > 1440 or begin >= end:
            raise ValueError(f"{day}: {part!r} does not end later on the same day; write a night as two spans")
        if spans and begin < spans[-1][1]:
            raise ValueError(f"{day}: {part!r} begins before the span in front of it has ended")
        spans.append((begin, end))
    return tuple(spans)


class ServiceLevel(Group):
    """What is promised for one priority, in hours; 0 promises nothing, and nothing is breached."""

    first_response_hours: float = Field(0, ge=0, le=10_000)
    next_response_hours: float = Field(0, ge=0, le=10_000)
    resolution_hours: float = Field(0, ge=0, le=10_000, description="paused while we wait for the customer")


class ServiceLevels(Group):
    """What is promised, by the thread's priority."""

    low: ServiceLevel = ServiceLevel()
    normal: ServiceLevel = ServiceLevel()
    high: ServiceLevel = ServiceLevel()
    urgent: ServiceLevel = ServiceLevel()
