"""What each event does to the state of a thread: the pure twin of `apply`.

Invariant: the state after an event is what `load` reads after `apply` wrote that event (a property test holds them
together). So a decision reads a thread once, and carries it on from there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from schemas.events import threads as ev
from schemas.events.answers import Assigned, Snoozed
from schemas.events.base import EventData
from schemas.events.marks import DeadlineChanged, PrioritySet, TagsChanged
from services.track_threads.thread import Deadline, Goal, OpenTurn, Pending, Thread

Evolve = Callable[[Thread, Any, datetime], Thread]


def evolve(thread: Thread, event: EventData, at: datetime) -> Thread:
    """The thread after an event of the time `at`; an event that no decision looks at leaves it as it is."""
    change = CHANGES.get(type(event))
    return change(thread, event, at) if change else thread


def answers(closed: ev.TurnClosed) -> bool:
    """Whether the mails of a turn wait no longer: something was said to them, or may have been."""
    without_reply = closed.outcome == "failed" and closed.reply_id is None
    return not (closed.outcome == "superseded" or closed.still_waits or without_reply)


def _opened(thread: Thread, event: ev.ThreadOpened, _: datetime) -> Thread:
    return replace(thread, exists=True, state="new", participant_id=event.participant_id, inbox=event.inbox)


def _linked(thread: Thread, _: ev.ThreadLinked, __: datetime) -> Thread:
    return replace(thread, linked=True)


def _mail_attached(thread: Thread, event: ev.MailAttached, at: datetime) -> Thread:
    arriving = thread.arriving or Pending(event.mail_id, at, event.trusted)
    thread = replace(thread, arriving=None, by_hand=False)
    if event.mode == "live":
        thread = _begun(thread, at)
    if not event.waits:
        return thread
    waits = replace(arriving, at=at, trusted=event.trusted and arriving.trusted)
    return replace(thread, pending=tuple(sorted((*thread.pending, waits), key=lambda one: one.at)))


def _reply_attached(thread: Thread, event: ev.ReplyAttached, _: datetime) -> Thread:
    return replace(thread, answered=True, by_hand=event.role == "human")


def _state_changed(thread: Thread, event: ev.StateChanged, at: datetime) -> Thread:
    thread = replace(thread, state=event.to_state)
    if event.to_state in ("resolved", "closed"):
        return replace(thread, began_at=None)
    return _begun(thread, at) if (event.from_state, event.to_state) == ("resolved", "in_progress") else thread


def _begun(thread: Thread, at: datetime) -> Thread:
    return replace(thread, began_at=min(at, thread.began_at or at))


def _goal_added(thread: Thread, event: ev.GoalAdded, at: datetime) -> Thread:
    goals = (*thread.goals, Goal(event.goal_id, event.text, event.participant_id, at))
    return replace(thread, goals=tuple(sorted(goals, key=lambda one: (one.added_at, one.goal_id))))


def _goal_closed(thread: Thread, event: ev.GoalClosed, _: datetime) -> Thread:
    return replace(thread, goals=tuple(one for one in thread.goals if one.goal_id != event.goal_id))


def _priority_set(thread: Thread, event: PrioritySet, _: datetime) -> Thread:
    return replace(thread, priority=event.to_priority)


def _tags_changed(thread: Thread, event: TagsChanged, _: datetime) -> Thread:
    return replace(thread, tags=(thread.tags | set(event.added)) - set(event.removed))


def _deadline_changed(thread: Thread, event: DeadlineChanged, _: datetime) -> Thread:
    changed = Deadline(
        kind=event.kind,
        status=event.status,
        since=event.since,
        allowed=timedelta(seconds=event.allowed_s),
        priority=event.priority,
        due_at=event.due_at,
        left=None if event.left_s is None else timedelta(seconds=event.left_s),
        ended_at=event.ended_at,
    )
    others = (one for one in thread.deadlines if one.kind != event.kind)
    return replace(thread, deadlines=tuple(sorted((*others, changed), key=lambda one: one.kind)))


def _assigned(thread: Thread, event: Assigned, _: datetime) -> Thread:
    return replace(thread, assignee=event.assignee)


def _snoozed(thread: Thread, event: Snoozed, _: datetime) -> Thread:
    return replace(thread, snoozed_until=event.until)


def _turn_opened(thread: Thread, event: ev.TurnOpened, _: datetime) -> Thread:
    turn = OpenTurn(event.turn_id, event.mail_ids, event.trusted, participant_id=event.participant_id, by=event.by)
    return replace(thread, turn=turn)


def _turn_closed(thread: Thread, event: ev.TurnClosed, _: datetime) -> Thread:
    thread = replace(thread, turn=None)
    if not answers(event):
        return thread
    return replace(thread, pending=tuple(one for one in thread.pending if one.mail_id not in event.mail_ids))


CHANGES: Mapping[type[EventData], Evolve] = {
    ev.ThreadOpened: _opened,
    ev.ThreadLinked: _linked,
    ev.MailAttached: _mail_attached,
    ev.ReplyAttached: _reply_attached,
    ev.StateChanged: _state_changed,
    ev.GoalAdded: _goal_added,
    ev.GoalClosed: _goal_closed,
    PrioritySet: _priority_set,
    TagsChanged: _tags_changed,
    DeadlineChanged: _deadline_changed,
    Assigned: _assigned,
    Snoozed: _snoozed,
    ev.TurnOpened: _turn_opened,
    ev.TurnClosed: _turn_closed,
}
