"""When people are needed: which of a thread's events call one. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta

from schemas.events.alerts import CallKind, PersonCalled
from schemas.events.base import EventData
from schemas.events.marks import DeadlineChanged
from schemas.events.threads import MAIL_WAITS, ActionLogged, MailAttached, StateChanged
from services.track_threads.deadlines import said
from services.track_threads.thread import Deadline, Thread


def calls(thread: Thread, events: Iterable[EventData]) -> Iterator[PersonCalled]:
    """The calls that follow from what was decided about a thread, in its order."""
    mail_id = None
    for event in events:
        if isinstance(event, MailAttached):
            mail_id = event.mail_id
        elif isinstance(event, StateChanged) and event.to_state == "escalated":
            yield _call(thread, "escalated", event.reason)
        elif isinstance(event, ActionLogged) and event.action == MAIL_WAITS:
            yield _call(thread, "mail_waits", event.detail).model_copy(update={"mail_id": mail_id})
        elif isinstance(event, DeadlineChanged) and event.status == "breached":
            yield _call(thread, "deadline_missed", event.reason)


def near_at(due_at: datetime, allowed: timedelta, warn_minutes: float) -> datetime:
    """When a deadline is near: so many minutes before it, but not before half of the time that was given is over."""
    return due_at - min(timedelta(minutes=warn_minutes), allowed / 2)


def near(thread: Thread, deadline: Deadline) -> PersonCalled:
    """The call for a deadline that is still running and near."""
    assert deadline.due_at is not None
    return _call(thread, "deadline_near", f"{said(deadline)}, at {deadline.due_at:%Y-%m-%d %H:%M} UTC")


def _call(thread: Thread, kind: CallKind, reason: str) -> PersonCalled:
    ids = {"thread_id": thread.thread_id, "participant_id": thread.participant_id}
    return PersonCalled(**ids, inbox=thread.inbox, kind=kind, reason=reason)
