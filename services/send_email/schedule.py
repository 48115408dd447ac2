"""When a copy that the Sent folder did not take is tried again. Pure."""

from __future__ import annotations

from datetime import datetime, timedelta

COPY_STEPS = tuple(timedelta(minutes=minutes) for minutes in (1, 5, 15, 60, 240, 720, 1440, 2880))


def next_copy(now: datetime, attempt: int) -> datetime | None:
    """When the copy in Sent is tried after `attempt` (counted from 1); None after more than three days."""
    return now + COPY_STEPS[attempt - 1] if attempt <= len(COPY_STEPS) else None
