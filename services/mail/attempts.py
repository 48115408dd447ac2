"""When a mail that a server does not take now is tried again, and when we give up. Pure."""

from __future__ import annotations

from datetime import datetime, timedelta

from services.core.retries import Schedule

# As RFC 5321, section 4.5.4.1 asks: half an hour and more after the first few.
ATTEMPTS = Schedule.minutes(1, 5, 15, 30, 60, 120, 240, repeats=True)


def next_attempt(now: datetime, attempt: int, began: datetime, retry_days: float) -> datetime | None:
    """The time of the attempt after `attempt` (counted from 1), or None when `retry_days` would be over."""
    at = ATTEMPTS.after(attempt, now)
    return at if at is not None and at <= began + timedelta(days=retry_days) else None
