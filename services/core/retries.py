"""When something is tried again: at the steps of a schedule, for days, or after pauses that double, for minutes. Pure.

What waits for days is a timer, so a schedule gives moments; what waits inside a process sleeps, so doubling gives
seconds. Every schedule of ours stands here; what the operator sets is named:

- a reply, alert or webhook that was not taken: `DELIVERY`, for `send`, `alerts` or `outgoing_webhooks.retry_days`
- all three while a restored deployment waits for a person's release: each `SENDING_HOLD`
- a reply of which nobody knows whether it was sent, looked for in Sent: `UNKNOWN_REPLY`; its copy there: `SENT_COPY`
- a turn from which nothing usable was learned: `learning.retry_hours` (`services/reflect/handler.py`)
- a handler: `core.bus.retry.RetryPolicy`, for `lanes.retry_s`, then a dead letter
- a connection for mail: `reconnect_s`; a model that is away: `model.breaker` (`services/model/breaker.py`)
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


# As RFC 5321, section 4.5.4.1 asks: half an hour and more after the first few.
DELIVERY = Schedule.minutes(1, 5, 15, 30, 60, 120, 240, repeats=True)
SENDING_HOLD = timedelta(minutes=5)
UNKNOWN_REPLY = Schedule.minutes(2, 15, 120, 720, 1440)
SENT_COPY = Schedule.minutes(1, 5, 15, 60, 240, 720, 1440, 2880)  # more than three days

RECONNECT_FIRST_S, RECONNECT_LONGEST_S = 1.0, 300.0
STABLE_S = 60.0  # a connection that lived so long was no failure


def next_delivery(now: datetime, attempt: int, began: datetime, retry_days: float) -> datetime | None:
    """The time of the attempt after `attempt` (counted from 1), or None when `retry_days` would be over."""
    at = DELIVERY.after(attempt, now)
    return at if at is not None and at <= began + timedelta(days=retry_days) else None


def reconnect_s(last_s: float, lived_s: float) -> float:
    """Seconds to wait, after a wait of `last_s` (0 for none yet) and a connection that then lived `lived_s`.

    A server that accepts a connection and drops it at once is still failing, so only a long life resets the delay.
    """
    return doubled_s(0 if lived_s >= STABLE_S else last_s, RECONNECT_FIRST_S, RECONNECT_LONGEST_S)


def doubled_s(last_s: float, first_s: float, longest_s: float) -> float:
    """The pause after one of `last_s` seconds (0 for none yet): twice as long, within bounds."""
    return min(last_s * 2 or first_s, longest_s)


def pause_s(attempts: int, first_s: float, longest_s: float, factor: float = 2.0) -> float:
    """The pause after so many failed attempts, each `factor` times as long as the one before, within a bound."""
    return min(longest_s, first_s * factor ** min(attempts - 1, 64))
