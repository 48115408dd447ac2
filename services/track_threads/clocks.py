"""The clocks of one thread while its events are heard. Pure: what they do to the deadlines is in `changes`.

The rules stand in `deadlines`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import datetime, timedelta

from schemas.events.base import EventData
from schemas.events.marks import DeadlineChanged, DeadlineKind, DeadlineStatus, Priority, PrioritySet
from schemas.events.threads import MailAttached, ReplyAttached, StateChanged, TurnClosed
from services.track_threads.office_hours import add, between
from services.track_threads.terms import Terms
from services.track_threads.thread import Deadline, Thread

RESPONSES: tuple[DeadlineKind, ...] = ("first_response", "next_response")


class Clocks:
    """The clocks of one thread while its events are heard, one after the other."""

    def __init__(self, thread: Thread, now: datetime, terms: Terms) -> None:
        self.changes: list[DeadlineChanged] = []
        self._thread, self._now, self._terms = thread, now, terms
        self._priority, self._answered = thread.priority, thread.answered
        self._all = {one.kind: one for one in thread.deadlines}
        self._waiting = {one.mail_id: one.at for one in thread.pending}
        self._replied, self._over, self._state = False, "", thread.state

    def hear(self, event: EventData) -> None:
        """One more event, in its order."""
        if isinstance(event, MailAttached) and event.mode == "live":
            self._customer_wrote(event)
        elif isinstance(event, ReplyAttached) and event.mode == "live":
            self._answered = self._replied = True
            self._keep(RESPONSES, event.replied_at or self._now, "we answered")
        elif isinstance(event, TurnClosed):
            self._turn_closed(event)
        elif isinstance(event, StateChanged):
            self._moved(event)
        elif isinstance(event, PrioritySet):
            self._reprioritised(event.to_priority)

    def end(self) -> None:
        """No more events: mails that our answer did not cover wait for the next one, unless the thread is over."""
        if self._over:
            self._drop(RESPONSES, self._over)
        elif self._replied:
            self._respond("another mail still waits")

    def _customer_wrote(self, event: MailAttached) -> None:
        self._waiting[event.mail_id] = self._now
        self._respond("the customer wrote")
        if not self._is_open("resolution"):
            self._begin("resolution", self._now, "the customer wrote")

    def _turn_closed(self, event: TurnClosed) -> None:
        if event.outcome == "superseded" or event.still_waits:
            return
        for mail_id in event.mail_ids:
            self._waiting.pop(mail_id, None)
        if event.outcome == "no_reply" and self._thread.turn and event.turn_id == self._thread.turn.turn_id:
            self._replied = True
            self._keep(RESPONSES, self._now, "no reply was needed")

    def _moved(self, step: StateChanged) -> None:
        self._state = step.to_state
        if step.to_state in ("resolved", "closed"):
            self._keep(("resolution",), self._now, f"the thread is {step.to_state}")
            self._over = f"the thread is {step.to_state}"
        elif step.to_state == "awaiting_reply":
            self._pause()
        elif step.from_state == "resolved":
            self._taken_up_again()
        else:
            self._go_on()

    def _taken_up_again(self) -> None:
        """For the customer's sake who wrote, or for another one whose mail was not answered when it was resolved."""
        self._over = ""
        self._respond("another mail still waits")
        if self._is_open("resolution"):
            self._go_on()
        else:
            self._begin("resolution", self._now, "taken up again")

    def _reprioritised(self, priority: Priority) -> None:
        self._priority = priority
        for one in [one for one in self._all.values() if one.status in ("running", "paused")]:
            allowed = self._terms.allowed(one.kind, priority)
            if allowed is None:
                self._change(replace(one, status="dropped", priority=priority), f"not promised at priority {priority}")
            else:
                self._allow(one, allowed, priority)
        reason = f"promised at priority {priority}"
        self._respond(reason)
        self._resolve(reason)

    def _allow(self, one: Deadline, allowed: timedelta, priority: Priority) -> None:
        """The time that was used counts toward the new one."""
        left = max(timedelta(0), self._left(one) + allowed - one.allowed)
        reason, given = f"priority {priority}", replace(one, allowed=allowed, priority=priority)
        if one.status == "paused":
            self._change(replace(given, left=left), reason)
        else:
            self._change(replace(given, due_at=add(self._now, left, self._terms.hours)), reason)

    def _left(self, one: Deadline) -> timedelta:
        if one.left is not None:
            return one.left
        assert one.due_at is not None
        return between(self._now, one.due_at, self._terms.hours)

    def _respond(self, reason: str) -> None:
        """Begin the response's clock with the oldest mail that waits, unless it is open already."""
        if self._waiting and not any(self._is_open(kind) for kind in RESPONSES):
            kind: DeadlineKind = "next_response" if self._answered else "first_response"
            self._begin(kind, min(self._waiting.values()), reason)

    def _resolve(self, reason: str) -> None:
        """Begin the resolution's clock with the thread, unless it is open or the thread is over."""
        if self._state in ("resolved", "closed") or self._thread.began_at is None or self._is_open("resolution"):
            return
        self._begin("resolution", self._thread.began_at, reason)
        if self._state == "awaiting_reply":
            self._pause()

    def _is_open(self, kind: DeadlineKind) -> bool:
        return kind in self._all and self._all[kind].open

    def _begin(self, kind: DeadlineKind, since: datetime, reason: str) -> None:
        allowed = self._terms.allowed(kind, self._priority)
        if allowed is not None:
            due = add(since, allowed, self._terms.hours)
            self._change(Deadline(kind, "running", since, allowed, self._priority, due), reason)

    def _keep(self, kinds: Iterable[DeadlineKind], at: datetime, reason: str) -> None:
        """What these deadlines are about came at that moment: in time or not, whenever anybody hears of it."""
        for one in self._open(kinds):
            late = one.due_at is not None and at > one.due_at
            status: DeadlineStatus = "missed" if late else "met"
            over = replace(one, status=status, due_at=None, left=None, ended_at=at)
            self._change(over, f"{reason} (late)" if late else reason)

    def _drop(self, kinds: Iterable[DeadlineKind], reason: str) -> None:
        for one in self._open(kinds):
            self._change(replace(one, status="dropped", due_at=None, left=None), reason)

    def _pause(self) -> None:
        for one in self._open(("resolution",)):
            if one.status == "running":
                self._change(
                    replace(one, status="paused", due_at=None, left=self._left(one)), "waiting for the customer"
                )

    def _go_on(self) -> None:
        for one in self._open(("resolution",)):
            if one.status == "paused" and one.left is not None:
                due = add(self._now, one.left, self._terms.hours)
                self._change(replace(one, status="running", due_at=due, left=None), "the wait for the customer is over")

    def _open(self, kinds: Iterable[DeadlineKind]) -> Iterator[Deadline]:
        return (self._all[kind] for kind in kinds if self._is_open(kind))

    def _change(self, one: Deadline, reason: str) -> None:
        self._all[one.kind] = one
        self.changes.append(changed(self._thread, one, reason))


def changed(thread: Thread, one: Deadline, reason: str) -> DeadlineChanged:
    """A deadline of a thread as it stands now, and why."""
    return DeadlineChanged(
        thread_id=thread.thread_id,
        participant_id=thread.participant_id,
        kind=one.kind,
        status=one.status,
        since=one.since,
        allowed_s=one.allowed.total_seconds(),
        due_at=one.due_at,
        left_s=None if one.left is None else one.left.total_seconds(),
        priority=one.priority,
        reason=reason,
        ended_at=one.ended_at,
    )
