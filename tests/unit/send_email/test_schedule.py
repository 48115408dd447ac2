"""When a copy for the Sent folder is tried again."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from services.core.retries import SENT_COPY, UNKNOWN_REPLY

BEGAN = datetime(2026, 3, 2, 9, 15, tzinfo=UTC)


def test_a_copy_is_tried_ever_more_rarely_and_given_up_after_days() -> None:
    """Each wait is longer than the one before, all together more than three days; then there is none."""
    waits = [SENT_COPY.after(attempt, BEGAN) for attempt in range(1, len(SENT_COPY.steps) + 2)]
    assert waits == [*(BEGAN + step for step in SENT_COPY.steps), None]
    assert list(SENT_COPY.steps) == sorted(SENT_COPY.steps)
    assert sum(SENT_COPY.steps, timedelta()) > timedelta(days=3)


def test_looks_that_an_outage_put_off_burst_one_after_the_other() -> None:
    """Looks whose time is over are not caught up with: after hours away the next one is the next that lies ahead."""
    assert UNKNOWN_REPLY.next_since(BEGAN, BEGAN + timedelta(hours=3)) == BEGAN + timedelta(hours=12)
    assert UNKNOWN_REPLY.next_since(BEGAN, BEGAN + UNKNOWN_REPLY.steps[-1]) is None
