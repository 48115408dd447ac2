"""Deadlines of a thread: what its events do to the clocks. Pure: from events to `thread.deadline_changed`.

Invariants
- A response's clock begins with the oldest mail that has no answer, and nothing but an answer (or that none is
  needed) ends it: a superseded turn, a failed one and an escalation leave it as it is.
- What comes after its deadline has passed missed it, whether or not the timer was heard before.
- A resolution's clock stands still while the thread waits for the customer.
- What the settings do not promise has no clock; neither has imported mail.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime, timedelta

from schemas.events.base import EventData
from schemas.events.marks import DeadlineChanged, DeadlineKind
from services.track_threads.clocks import Clocks, changed
from services.track_threads.terms import Terms
from services.track_threads.thread import Deadline, Thread


def follow(before: Thread, events: Iterable[EventData], now: datetime, terms: Terms) -> list[DeadlineChanged]:
    """What events, in the order in which they were decided, do to the deadlines that the thread had before them."""
    clocks = Clocks(before, now, terms)
    for event in events:
        clocks.hear(event)
    clocks.end()
    return clocks.changes


def breached(thread: Thread, kind: DeadlineKind) -> DeadlineChanged | None:
    """The breach of a deadline whose timer fired; None where it is not running any more."""
    one = next((one for one in thread.deadlines if one.kind == kind and one.status == "running"), None)
    return None if one is None else changed(thread, replace(one, status="breached"), said(one))


def said(deadline: Deadline) -> str:
    """A deadline in words."""
    what = deadline.kind.replace("_", " ")
    return f"the {what} was due within {deadline.allowed / timedelta(hours=1):g} h (priority {deadline.priority})"
