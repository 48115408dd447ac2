"""Office hours: what counts, over nights, weekends, holidays and changes of the clock."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from services.core.office_hours import add, between, is_open
from services.core.settings import OfficeHours

BERLIN = "Europe/Berlin"
DAYS = ("mon", "tue", "wed", "thu", "fri")
NINE_TO_FIVE = OfficeHours(
    time_zone=BERLIN, hours=dict.fromkeys(DAYS, "09:00-12:00, 13:00-17:00"), holidays=("2026-05-01",)
)
ALL_DAY = OfficeHours(time_zone=BERLIN, hours=dict.fromkeys((*DAYS, "sat", "sun"), "00:00-24:00"))


def wall(text: str, hours: OfficeHours = NINE_TO_FIVE) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=hours.zone)


@pytest.mark.parametrize(
    ("start", "work_h", "end"),
    [
        ("2026-03-02T09:00", 2, "2026-03-02T11:00"),
        ("2026-03-02T11:00", 2, "2026-03-02T14:00"),  # over lunch
        ("2026-03-02T16:00", 2, "2026-03-03T10:00"),  # over night
        ("2026-03-02T03:00", 1, "2026-03-02T10:00"),  # before the office opens
        ("2026-03-06T16:00", 2, "2026-03-09T10:00"),  # over the weekend
        ("2026-03-07T12:00", 1, "2026-03-09T10:00"),  # written on a Saturday
        ("2026-04-30T16:00", 2, "2026-05-04T10:00"),  # over a holiday and a weekend
        ("2026-03-02T10:00", 2, "2026-03-02T12:00"),  # exactly when it closes
        ("2026-03-27T16:00", 2, "2026-03-30T10:00"),  # over the night in which summer time begins
        ("2026-10-23T16:00", 2, "2026-10-26T10:00"),  # over the night in which it ends
        ("2026-03-02T09:00", 70, "2026-03-16T09:00"),  # two weeks of seven hours a day
    ],
)
def test_time_counts_while_the_office_is_open(start: str, work_h: float, end: str) -> None:
    """A deadline falls where so many open hours have passed, whatever lies between; measuring gives them back."""
    due = add(wall(start), timedelta(hours=work_h), NINE_TO_FIVE)
    passed = between(wall(start), wall(end), NINE_TO_FIVE)
    assert passed == timedelta(hours=work_h)
    assert between(wall(start), due, NINE_TO_FIVE) == passed
    assert due <= wall(end)
    assert due == wall(end) or between(due, wall(end), NINE_TO_FIVE) == timedelta(0)


@pytest.mark.parametrize(
    ("start", "work_h", "end"),
    [
        ("2026-03-28T12:00", 24, "2026-03-29T13:00"),  # a day of 23 hours
        ("2026-10-24T12:00", 24, "2026-10-25T11:00"),  # a day of 25 hours
        ("2026-03-29T01:30", 1, "2026-03-29T03:30"),  # 02:00 to 03:00 does not exist
        ("2026-10-25T01:30", 2, "2026-10-25T02:30+01:00"),  # 02:00 to 03:00 comes twice
    ],
)
def test_a_change_of_the_clock_is_an_hour_more_or_less(start: str, work_h: float, end: str) -> None:
    """Hours are real hours: an office that never closes has 23 or 25 of them on the day of the change."""
    told = datetime.fromisoformat(end)
    expected = told if told.tzinfo else wall(end, ALL_DAY)
    assert add(wall(start, ALL_DAY), timedelta(hours=work_h), ALL_DAY) == expected.astimezone(UTC)
    assert between(wall(start, ALL_DAY), expected, ALL_DAY) == timedelta(hours=work_h)


def test_the_mornings_opening_follows_the_wall() -> None:
    """Nine o'clock is 08:00 UTC in winter and 07:00 UTC in summer."""
    opened = [add(wall(day), timedelta(seconds=1), NINE_TO_FIVE) for day in ("2026-03-27T00:00", "2026-03-30T00:00")]
    assert [one.hour for one in opened] == [8, 7]


def test_a_span_that_begins_in_the_skipped_hour_loses_nothing() -> None:
    """02:30 does not exist that night: it is taken as if the clock had not changed yet, which is 03:30."""
    night = OfficeHours(time_zone=BERLIN, hours={"sun": "02:30-06:00"})
    assert add(wall("2026-03-29T00:00", night), timedelta(minutes=1), night) == wall("2026-03-29T03:31", night)


def test_without_hours_every_hour_counts() -> None:
    """By default a deadline is so many hours on the clock, weekends included."""
    saturday = datetime(2026, 3, 7, 20, tzinfo=UTC)
    assert add(saturday, timedelta(hours=5), OfficeHours()) == datetime(2026, 3, 8, 1, tzinfo=UTC)
    assert between(saturday, saturday + timedelta(hours=5), OfficeHours()) == timedelta(hours=5)


def test_nothing_passes_backwards() -> None:
    """Where the end is not later than the start, no time has passed."""
    noon = wall("2026-03-02T10:00")
    for hours in (NINE_TO_FIVE, OfficeHours()):
        assert between(noon, noon - timedelta(hours=1), hours) == timedelta(0)


@given(
    days=st.floats(0, 4000),
    minutes=st.integers(0, 20_000),
    hours=st.sampled_from([NINE_TO_FIVE, ALL_DAY, OfficeHours(), OfficeHours(hours={"wed": "23:00-24:00"})]),
)
def test_adding_and_measuring_agree(days: float, minutes: int, hours: OfficeHours) -> None:
    """Whatever the start, the open time up to the deadline is the time that was added; a later start is never earlier."""
    start = datetime(2020, 1, 1, tzinfo=UTC) + timedelta(days=days)
    work = timedelta(minutes=minutes)
    due = add(start, work, hours)
    assert between(start, due, hours) == work
    assert due >= start
    assert add(start + timedelta(minutes=7), work, hours) >= due


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"time_zone": "Mars/Olympus"}, "there is no time zone 'Mars/Olympus'"),
        ({"time_zone": "../../etc/passwd"}, "there is no time zone"),
        ({"hours": {"mon": "9-17"}}, "mon: '9-17' is no span of hours"),
        ({"hours": {"mon": "17:00-09:00"}}, "write a night as two spans"),
        ({"hours": {"mon": "09:00-25:00"}}, "does not end later on the same day"),
        ({"hours": {"mon": "09:60-11:00"}}, "does not end later on the same day"),
        ({"hours": {"mon": "09:00-12:00, 11:00-17:00"}}, "begins before the span in front of it has ended"),
        ({"hours": {"mon": ""}}, "open for less than an hour a week"),
        ({"hours": {"someday": "09:00-17:00"}}, "Input should be 'mon'"),
        ({"holidays": ["the first of May"]}, "valid date"),
    ],
)
def test_hours_that_cannot_be_are_refused(given: dict[str, Any], said: str) -> None:
    """What is no zone, no time, or an office that never opens is said in words."""
    with pytest.raises(ValidationError) as raised:
        OfficeHours(**given)
    assert said in str(raised.value)


@pytest.mark.parametrize(
    ("at", "opened"),
    [
        ("2026-03-02T08:59", False),
        ("2026-03-02T09:00", True),
        ("2026-03-02T12:00", False),  # it closes for lunch
        ("2026-03-02T16:59", True),
        ("2026-03-07T10:00", False),  # a Saturday
        ("2026-05-01T10:00", False),  # a holiday
    ],
)
def test_a_deadline_and_the_prompt_counted_office_hours_each_for_themselves(at: str, opened: bool) -> None:
    """Whether the office is open follows from the same spans by which deadlines are counted, and so in any zone."""
    assert is_open(wall(at), NINE_TO_FIVE) is opened
    assert is_open(wall(at).astimezone(UTC), NINE_TO_FIVE) is opened
    assert is_open(wall(at), OfficeHours())
