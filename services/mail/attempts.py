"""When a mail that a server does not take now is tried again, and when we give up. Pure."""

from __future__ import annotations

from datetime import datetime, timedelta

STEPS = tuple(timedelta(minutes=minutes) for minutes in (1, 5, 15, 30, 60, 120, 240))


def next_attempt(now: datetime, attempt: int, began: datetime, retry_days: float) -> datetime | None:
    """The time of the attempt after `attempt` (counted from 1), or None when `retry_days` would be over.

    The steps are those that RFC 5321, section 4.5.4.1 asks for: half an hour and more after the first few.
    """
    at = now + STEPS[min(attempt, len(STEPS)) - 1]
    return at if at <= began + timedelta(days=retry_days) else None
