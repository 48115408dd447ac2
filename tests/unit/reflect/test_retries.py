"""When the model is asked again about a turn that nothing was learned from."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from services.reflect.handler import next_attempt

CLOSED = datetime(2026, 3, 2, 9, 15, tzinfo=UTC)
HOUR = timedelta(hours=1)
STEPS = (1, 6, 24)


def test_the_model_is_asked_again_after_each_step_and_then_no_more() -> None:
    """An attempt in time is followed by the next step; after the last one there is none."""
    due = [CLOSED, CLOSED + HOUR, CLOSED + 6 * HOUR, CLOSED + 24 * HOUR]
    assert [next_attempt(CLOSED, at, at, STEPS) for at in due] == [*due[1:], None]


def test_questions_that_an_outage_put_off_were_asked_back_to_back() -> None:
    """The pause counts from when an attempt was made where that is later than it was due: ten hours late is no burst."""
    made = CLOSED + 11 * HOUR
    again = next_attempt(CLOSED, CLOSED + HOUR, made, STEPS)
    assert again is not None
    assert again == made + 5 * HOUR
