"""When a copy for the Sent folder is tried again."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from services.send_email.sent_folder import COPIES
from services.send_email.settlement import LOOKS

BEGAN = datetime(2026, 3, 2, 9, 15, tzinfo=UTC)


def test_a_copy_is_tried_ever_more_rarely_and_given_up_after_days() -> None:
    """Each wait is longer than the one before, all together more than three days; then there is none."""
    waits = [COPIES.after(attempt, BEGAN) for attempt in range(1, len(COPIES.steps) + 2)]
    assert waits == [*(BEGAN + step for step in COPIES.steps), None]
    assert list(COPIES.steps) == sorted(COPIES.steps)
    assert sum(COPIES.steps, timedelta()) > timedelta(days=3)


def test_looks_that_an_outage_put_off_burst_one_after_the_other() -> None:
    """Looks whose time is over are not caught up with: after hours away the next one is the next that lies ahead."""
    assert LOOKS.next_since(BEGAN, BEGAN + timedelta(hours=3)) == BEGAN + timedelta(hours=12)
    assert LOOKS.next_since(BEGAN, BEGAN + LOOKS.steps[-1]) is None
