"""When a deferred mail is tried again, and when we give up."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.core.retries import DELIVERY, next_delivery

BEGAN = datetime(2026, 3, 2, 9, 15, tzinfo=UTC)


@pytest.mark.parametrize(
    ("attempt", "minutes"), [(1, 1), (2, 5), (3, 15), (4, 30), (5, 60), (6, 120), (7, 240), (8, 240), (500, 240)]
)
def test_the_wait_grows_to_four_hours(attempt: int, minutes: int) -> None:
    """Each attempt waits longer than the one before, up to four hours."""
    assert next_delivery(BEGAN, attempt, BEGAN, 5) == BEGAN + timedelta(minutes=minutes)


def test_we_give_up_after_the_days_are_over() -> None:
    """The last attempt is within five days of the first; what would come later is none."""
    end = BEGAN + timedelta(days=5)
    assert next_delivery(end - DELIVERY.steps[-1], 40, BEGAN, 5) == end
    assert next_delivery(end - DELIVERY.steps[-1] + timedelta(seconds=1), 40, BEGAN, 5) is None


@given(st.floats(0, 7))
def test_attempts_move_forward_and_end(days: float) -> None:
    """However many days are given, each attempt is later than the last and the series is finite."""
    now, attempt = BEGAN, 1
    while (at := next_delivery(now, attempt, BEGAN, days)) is not None:
        assert now < at <= BEGAN + timedelta(days=days)
        now, attempt = at, attempt + 1
    assert attempt <= 8 + days * 6
