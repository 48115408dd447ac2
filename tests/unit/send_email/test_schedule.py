"""When a copy for the Sent folder is tried again."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from services.send_email.schedule import COPY_STEPS, next_copy
from services.send_email.settlement import LOOK_AFTER, next_look

BEGAN = datetime(2026, 3, 2, 9, 15, tzinfo=UTC)


def test_a_copy_is_tried_ever_more_rarely_and_given_up_after_days() -> None:
    """Each wait is longer than the one before, all together more than three days; then there is none."""
    waits = [next_copy(BEGAN, attempt) for attempt in range(1, len(COPY_STEPS) + 2)]
    assert waits == [*(BEGAN + step for step in COPY_STEPS), None]
    assert list(COPY_STEPS) == sorted(COPY_STEPS)
    assert sum(COPY_STEPS, timedelta()) > timedelta(days=3)


def test_looks_that_an_outage_put_off_burst_one_after_the_other() -> None:
    """Looks whose time is over are not caught up with: after hours away the next one is the next that lies ahead."""
    assert next_look(BEGAN, BEGAN + timedelta(hours=3)) == BEGAN + timedelta(hours=12)
    assert next_look(BEGAN, BEGAN + LOOK_AFTER[-1]) is None
