"""When something is tried again: at the steps of a schedule, for days, or after pauses that double, for minutes. Pure.

What waits for days is a timer, so a schedule gives moments; what waits inside a process sleeps, so doubling gives
seconds. Each user of either names its own steps or bounds.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Self


@dataclass(frozen=True, slots=True)
class Schedule:
    """Steps after which something is tried again; where `repeats`, the last one again and again."""

    steps: tuple[timedelta, ...]
    repeats: bool = False

    @classmethod
    def minutes(cls, *steps: float, repeats: bool = False) -> Self:
        """A schedule whose steps are so many minutes."""
        return cls(tuple(timedelta(minutes=one) for one in steps), repeats)

    def after(self, attempt: int, now: datetime) -> datetime | None:
        """When the attempt after `attempt` (counted from 1), which failed `now`, is made; None after the last step."""
        if attempt > len(self.steps) and not self.repeats:
            return None
        return now + self.steps[min(attempt, len(self.steps)) - 1]

    def next_since(self, began: datetime, now: datetime) -> datetime | None:
        """The next step, all counted from `began`, that lies ahead: what an outage put off is not caught up with."""
        return next((began + one for one in self.steps if began + one > now), None)


def doubled_s(last_s: float, first_s: float, longest_s: float) -> float:
    """The pause after one of `last_s` seconds (0 for none yet): twice as long, within bounds."""
    return min(last_s * 2 or first_s, longest_s)


def pause_s(attempts: int, first_s: float, longest_s: float, factor: float = 2.0) -> float:
    """The pause after so many failed attempts, each `factor` times as long as the one before, within a bound."""
    return min(longest_s, first_s * factor ** min(attempts - 1, 64))
