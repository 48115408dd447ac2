"""When what could not be done is tried again, and when we give up."""

from __future__ import annotations

from datetime import datetime, timedelta

STEPS = tuple(timedelta(minutes=minutes) for minutes in (1, 5, 15, 30, 60, 120, 240))
COPY_STEPS = tuple(timedelta(minutes=minutes) for minutes in (1, 5, 15, 60, 240, 720, 1440, 2880))


def next_attempt(now: datetime, attempt: int, began: datetime, retry_days: float) -> datetime | None:
    """The time of the attempt after `attempt` (counted from 1), or None when `retry_days` would be over.

    The steps are those that RFC 5321, section 4.5.4.1 asks for: half an hour and more after the first few.
    """
    at = now + STEPS[min(attempt, len(STEPS)) - 1]
    return at if at <= began + timedelta(days=retry_days) else None


def next_copy(now: datetime, attempt: int) -> datetime | None:
    """When the copy in Sent is tried after `attempt` (counted from 1); None after more than three days."""
    return now + COPY_STEPS[attempt - 1] if attempt <= len(COPY_STEPS) else None
