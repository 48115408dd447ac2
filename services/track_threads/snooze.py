"""A thread that a person put off: until a moment, or until something happens that they have to see. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from schemas.events.answers import Snoozed, SnoozeRequested
from schemas.events.base import EventData
from schemas.events.threads import MailAttached, StateChanged, TimerElapsed
from services.track_threads.states import Events, about
from services.track_threads.thread import Thread

DONE = ("resolved", "closed")


def requested(thread: Thread, asked: SnoozeRequested, now: datetime) -> Events:
    """It is put off, to another moment where it was before, or on the list again; what is done is not put off."""
    impossible = asked.until is not None and (thread.state in DONE or asked.until <= now)
    if thread.exists and not impossible and asked.until != thread.snoozed_until:
        reason = f"{asked.by}: {asked.reason}" if asked.reason else asked.by
        yield Snoozed(**about(thread), until=asked.until, reason=reason)


def ended(thread: Thread, events: Iterable[EventData]) -> list[EventData]:
    """What puts it on the list before the moment: the customer's mail, a person who is called, or that it is done."""
    because = next(filter(None, map(_ends, events)), "") if thread.snoozed_until else ""
    return [_woken(thread, because)] if because else []


def over(thread: Thread, timer: TimerElapsed) -> Events:
    """The moment has come; a timer of one that was moved since is ignored."""
    if thread.snoozed_until and timer.due_at >= thread.snoozed_until:
        yield _woken(thread, "the time is over")


def _ends(event: EventData) -> str:
    if isinstance(event, MailAttached) and event.mode == "live":
        return "the customer wrote"
    if isinstance(event, StateChanged) and event.to_state in ("escalated", *DONE):
        return f"the thread became {event.to_state}"
    return ""


def _woken(thread: Thread, because: str) -> Snoozed:
    return Snoozed(**about(thread), until=None, trigger="system", reason=because)
