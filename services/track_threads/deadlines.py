"""Deadlines of a thread: what is promised in its inbox, and what its events do to the clocks. Pure.

Invariants
- A response's clock begins with the oldest mail that has no answer, and nothing but an answer (or that none is
  needed) ends it: a superseded turn, a failed one and an escalation leave it as it is.
- What comes after its deadline has passed missed it, whether or not the timer was heard before.
- A resolution's clock stands still while the thread waits for the customer.
- What the settings do not promise has no clock; neither has imported mail.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from schemas.events.answers import Snoozed, SnoozeRequested
from schemas.events.base import EventData
from schemas.events.marks import DeadlineChanged, DeadlineKind, DeadlineStatus, Priority, PrioritySet
from schemas.events.threads import MailAttached, ReplyAttached, StateChanged, TimerElapsed, TurnClosed
from services.core.office_hours import add, between
from services.core.settings import OfficeHours, ServiceLevels, Settings
from services.track_threads.evolve import evolve
from services.track_threads.states import Events, about
from services.track_threads.thread import Deadline, Thread

RESPONSES: tuple[DeadlineKind, ...] = ("first_response", "next_response")


@dataclass(frozen=True, slots=True)
class Terms:
    """What is promised in an inbox, and the hours in which it counts."""

    levels: ServiceLevels
    hours: OfficeHours

    def allowed(self, kind: DeadlineKind, priority: Priority) -> timedelta | None:
        """The time that is promised; None where nothing is."""
        promised: float = getattr(getattr(self.levels, priority), f"{kind}_hours")
        return timedelta(hours=promised) if promised else None


def terms_of(settings: Settings, inbox: str) -> Terms:
    """The inbox's own terms where it has some, else the workspace's."""
    own = settings.known_inbox(inbox)
    levels = own.service_levels if own and own.service_levels else settings.service_levels
    return Terms(levels, settings.hours_of(inbox))


def follow(before: Thread, events: Iterable[EventData], now: datetime, terms: Terms) -> list[DeadlineChanged]:
    """What events, in the order in which they were decided, do to the deadlines that the thread had before them."""
    clocks = Clocks(before, now, terms)
    for event in events:
        clocks.hear(event)
    clocks.end()
    return clocks.changes


def breached(thread: Thread, timer: TimerElapsed) -> DeadlineChanged | None:
    """The breach of the deadline whose timer fired; None where it was kept, paused, or moved to a later time."""
    for one in thread.deadlines:
        if one.status == "running" and thread.deadline_timer(one.kind) == timer.timer_id:
            assert one.due_at is not None
            if one.due_at <= timer.due_at:
                return changed(thread, replace(one, status="breached"), in_words(one))
    return None


def nearly_missed(thread: Thread, timer: TimerElapsed, warn_minutes: float) -> Deadline | None:
    """The deadline whose warning fired; None where it was kept, paused, or moved to a later time."""
    for one in thread.deadlines:
        if one.status == "running" and thread.warning_timer(one.kind) == timer.timer_id:
            assert one.due_at is not None
            if near_at(one.due_at, one.allowed, warn_minutes) <= timer.due_at:
                return one
    return None


def near_at(due_at: datetime, allowed: timedelta, warn_minutes: float) -> datetime:
    """When a deadline is near: so many minutes before it, but not before half of the time that was given is over."""
    return due_at - min(timedelta(minutes=warn_minutes), allowed / 2)


def in_words(deadline: Deadline) -> str:
    """What was promised."""
    what = deadline.kind.replace("_", " ")
    return f"the {what} was due within {deadline.allowed / timedelta(hours=1):g} h (priority {deadline.priority})"


class Clocks:
    """The clocks of one thread while its events are heard, one after the other.

    `_turn` is the one that was open before them: one that opens and closes among them answers nothing of ours.
    """

    def __init__(self, thread: Thread, now: datetime, terms: Terms) -> None:
        self.changes: list[DeadlineChanged] = []
        self._thread, self._now, self._terms = thread, now, terms
        self._turn, self._replied, self._over = thread.turn, False, ""

    def hear(self, event: EventData) -> None:
        """One more event, in its order."""
        self._thread = evolve(self._thread, event, self._now)
        if isinstance(event, MailAttached) and event.mode == "live":
            self._customer_wrote()
        elif isinstance(event, ReplyAttached) and event.mode == "live":
            self._replied = True
            self._keep(RESPONSES, event.replied_at or self._now, "we answered")
        elif isinstance(event, TurnClosed):
            self._turn_closed(event)
        elif isinstance(event, StateChanged):
            self._moved(event)
        elif isinstance(event, PrioritySet):
            self._reprioritised()

    def end(self) -> None:
        """No more events: mails that our answer did not cover wait for the next one, unless the thread is over."""
        if self._over:
            self._drop(RESPONSES, self._over)
        elif self._replied:
            self._respond("another mail still waits")

    def _customer_wrote(self) -> None:
        self._respond("the customer wrote", self._now)
        if not self._is_open("resolution"):
            self._begin("resolution", self._now, "the customer wrote")

    def _turn_closed(self, event: TurnClosed) -> None:
        if event.outcome == "no_reply" and self._turn and event.turn_id == self._turn.turn_id:
            self._replied = True
            self._keep(RESPONSES, self._now, "no reply was needed")

    def _moved(self, step: StateChanged) -> None:
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

    def _reprioritised(self) -> None:
        priority = self._thread.priority
        for one in [one for one in self._thread.deadlines if one.status in ("running", "paused")]:
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

    def _respond(self, reason: str, *wrote: datetime) -> None:
        """Begin the response's clock with the oldest mail that waits, or that just came, unless it is open already."""
        waiting = [*(one.at for one in self._thread.pending), *wrote]
        if waiting and not any(self._is_open(kind) for kind in RESPONSES):
            kind: DeadlineKind = "next_response" if self._thread.answered else "first_response"
            self._begin(kind, min(waiting), reason)

    def _resolve(self, reason: str) -> None:
        """Begin the resolution's clock with the thread, unless it is open or the thread is over."""
        thread = self._thread
        if thread.state in ("resolved", "closed") or thread.began_at is None or self._is_open("resolution"):
            return
        self._begin("resolution", thread.began_at, reason)
        if thread.state == "awaiting_reply":
            self._pause()

    def _is_open(self, kind: DeadlineKind) -> bool:
        return any(self._open((kind,)))

    def _begin(self, kind: DeadlineKind, since: datetime, reason: str) -> None:
        allowed = self._terms.allowed(kind, self._thread.priority)
        if allowed is not None:
            due = add(since, allowed, self._terms.hours)
            self._change(Deadline(kind, "running", since, allowed, self._thread.priority, due), reason)

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

    def _open(self, kinds: Iterable[DeadlineKind]) -> list[Deadline]:
        return [one for one in self._thread.deadlines if one.kind in kinds and one.open]

    def _change(self, one: Deadline, reason: str) -> None:
        self.changes.append(changed(self._thread, one, reason))
        self._thread = evolve(self._thread, self.changes[-1], self._now)


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


# A thread that a person put off: until a moment, or until something happens that they have to see. Pure.
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
