"""When a copy for the Sent folder is tried again."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from services.send_email.schedule import COPY_STEPS, next_copy

BEGAN = datetime(2026, 3, 2, 9, 15, tzinfo=UTC)


def test_a_copy_is_tried_ever_more_rarely_and_given_up_after_days() -> None:
    """Each wait is longer than the one before, all together more than three days; then there is none."""
    waits = [next_copy(BEGAN, attempt) for attempt in range(1, len(COPY_STEPS) + 2)]
    assert waits == [*(BEGAN + step for step in COPY_STEPS), None]
    assert list(COPY_STEPS) == sorted(COPY_STEPS)
    assert sum(COPY_STEPS, timedelta()) > timedelta(days=3)
