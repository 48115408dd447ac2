"""What follows from events of a thread outside of it: its timers, and the alerts of people. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from schemas.events.alerts import CallKind, PersonCalled
from schemas.events.answers import Assigned, Snoozed
from schemas.events.base import EventData
from schemas.events.marks import DeadlineChanged, NoteAdded
from schemas.events.threads import (
    MAIL_WAITS,
    REPLY_LOST,
    ActionLogged,
    MailAttached,
    ReplyAttached,
    StateChanged,
    TimerPurpose,
)
from services.core.settings import AlertSettings, Settings, ThreadSettings
from services.track_threads.deadlines import in_words, near_at
from services.track_threads.thread import Deadline, Thread


@dataclass(frozen=True, slots=True)
class Timer:
    """A timer of the thread: set, or moved; without a purpose and a time cancelled."""

    timer_id: UUID
    purpose: TimerPurpose | None = None
    due_at: datetime | None = None


def alerts(thread: Thread, events: Iterable[EventData]) -> Iterator[PersonCalled]:
    """The alerts that follow from what was decided about a thread, in its order; none where somebody just took it."""
    mail_id, taken = None, False
    for event in events:
        if isinstance(event, MailAttached):
            mail_id = event.mail_id
        elif isinstance(event, Assigned):
            taken = bool(event.assignee)
        elif isinstance(event, StateChanged) and event.to_state == "escalated" and not taken:
            yield _alert(thread, "escalated", event.reason)
        elif isinstance(event, ActionLogged) and event.action == MAIL_WAITS:
            yield _alert(thread, "mail_waits", event.detail).model_copy(update={"mail_id": mail_id})
        elif isinstance(event, ActionLogged) and event.action == REPLY_LOST:
            yield _alert(thread, "escalated", event.detail)
        elif isinstance(event, DeadlineChanged) and event.status == "breached":
            yield _alert(thread, "deadline_missed", event.reason)
        elif isinstance(event, NoteAdded):
            yield from _asked_to_look(thread, event)


def near(thread: Thread, deadline: Deadline) -> PersonCalled:
    """The alert for a deadline that is still running and near."""
    return _alert(thread, "deadline_near", f"{in_words(deadline)}, at {deadline.due_at:%Y-%m-%d %H:%M} UTC")


def _asked_to_look(thread: Thread, note: NoteAdded) -> Iterator[PersonCalled]:
    """One alert for each colleague whom a note names; it holds none of the note's words."""
    for name in note.mentions:
        call = _alert(thread, "mentioned", f"{note.by} asks {name} to look, in a note")
        yield call.model_copy(update={"person": name})


def _alert(thread: Thread, kind: CallKind, reason: str) -> PersonCalled:
    ids = {"thread_id": thread.thread_id, "participant_id": thread.participant_id}
    return PersonCalled(**ids, inbox=thread.inbox, kind=kind, reason=reason)


def timers(after: Thread, event: EventData, now: datetime, settings: Settings) -> Iterator[Timer]:
    """The timers that follow from an event, which left the thread as it is in `after`."""
    answered = isinstance(event, ReplyAttached) and event.mode == "live"
    if isinstance(event, StateChanged) or (answered and after.state == "awaiting_reply"):
        yield _idle(after, now, settings.threads)
    elif isinstance(event, DeadlineChanged):
        yield from _deadline(after, event, settings.alerts)
    elif isinstance(event, Snoozed):
        yield Timer(after.snooze_timer, "snooze", event.until) if event.until else Timer(after.snooze_timer)


def _idle(thread: Thread, now: datetime, settings: ThreadSettings) -> Timer:
    if thread.state == "awaiting_reply":
        return Timer(thread.idle_timer, "auto_resolve", now + timedelta(days=settings.auto_resolve_days))
    if thread.state == "resolved":
        return Timer(thread.idle_timer, "auto_close", now + timedelta(days=settings.auto_close_days))
    return Timer(thread.idle_timer)


def _deadline(thread: Thread, change: DeadlineChanged, settings: AlertSettings) -> Iterator[Timer]:
    """One for the deadline, and one before it where anybody is warned."""
    timer, warning = thread.deadline_timer(change.kind), thread.warning_timer(change.kind)
    if change.status != "running" or change.due_at is None:
        yield Timer(timer)
        yield Timer(warning)
        return
    yield Timer(timer, "sla", change.due_at)
    if settings.warns:
        at = near_at(change.due_at, timedelta(seconds=change.allowed_s), settings.warn_minutes)
        yield Timer(warning, "deadline_near", at)
