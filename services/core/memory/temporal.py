"""Temporal phrases in a text ("last month", "before Christmas", "in March", "2026-05-04") as a date window.

Pure: everything is relative to the `now` that is given, in its time zone. A month or a weekday without a
year is the latest one that has begun, because customers write about what has happened.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class Window:
    """From `start` (inclusive) to `end` (exclusive), both aware."""

    start: datetime
    end: datetime
