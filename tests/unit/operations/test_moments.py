"""A moment as a person types it."""

from __future__ import annotations

from contextlib import suppress
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.core.settings import OfficeHours
from services.operations.threads.moments import MomentUnknown, moment_of

NOW = datetime(2026, 11, 25, 12, 30, tzinfo=UTC)  # a Wednesday
BERLIN = OfficeHours(time_zone="Europe/Berlin", hours={"mon": "08:30-17:00", "wed": "09:00-12:00"})


@pytest.mark.parametrize(
    ("typed", "at"),
    [
        ("3h", "2026-11-25T15:30"),
        ("2d", "2026-11-27T12:30"),
        ("Tomorrow ", "2026-11-26T08:00"),  # closed that day: nine on the wall
        ("mon", "2026-11-30T07:30"),
        ("wed", "2026-12-02T08:00"),  # not today
        ("2026-12-07", "2026-12-07T07:30"),
        ("2026-07-01T14:00", "2026-07-01T12:00"),  # in summer time
        ("2026-12-01T14:00+05:00", "2026-12-01T09:00"),
    ],
)
def test_words_and_times_are_on_the_clock_of_the_office(typed: str, at: str) -> None:
    """In UTC; a morning is when the office opens."""
    assert moment_of(typed, NOW, BERLIN) == datetime.fromisoformat(at).replace(tzinfo=UTC)


@pytest.mark.parametrize("typed", ["", "soon", "0h", "1000d", "2026-13-01", "0001-01-01T00:00", "25:00", "-3h", "٣h"])
def test_what_is_no_moment_is_refused_with_what_to_write(typed: str) -> None:
    """Also what no clock of an office can show."""
    with pytest.raises(MomentUnknown, match="write 3h"):
        moment_of(typed, NOW, BERLIN)


@given(st.text(max_size=30))
def test_nothing_typed_breaks_it(typed: str) -> None:
    """A moment in UTC, or the one error."""
    with suppress(MomentUnknown):
        assert moment_of(typed, NOW, BERLIN).tzinfo is UTC
