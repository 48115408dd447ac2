"""Records what was decided about a thread, with the timers that follow from it."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from uuid import UUID

from schemas.events.base import EventData
from schemas.events.marks import DeadlineChanged, PrioritySet
from schemas.events.threads import ReplyAttached, StateChanged, ThreadState, TimerElapsed
from services.core.bus.unit import Unit
from services.core.settings import AlertSettings, Settings, ThreadSettings, shaped
from services.track_threads import decide_turns, goals
from services.track_threads.behaviours import applied, put_marks
from services.track_threads.calls import calls, near_at
from services.track_threads.deadlines import follow
from services.track_threads.load import dated
from services.track_threads.occasions import before_turn, for_a_person
from services.track_threads.terms import terms_of
from services.track_threads.thread import Thread


async def record(unit: Unit, thread: Thread, events: Iterable[EventData], settings: Settings) -> list[EventData]:
    """Record what was decided about `thread` as it was, in order; then what follows for goals, deadlines, timers."""
    decided = list(events)
    decided = [*decided, *goals.settled(thread, decided)]
    before = await dated(unit, thread) if any(isinstance(one, PrioritySet) for one in decided) else thread
    changes = follow(before, decided, unit.now, terms_of(settings, thread.inbox))
    state = thread.state
    for event in (*decided, *changes):
        await unit.record(event)
        if isinstance(event, StateChanged):
            state = event.to_state
            await _set_idle_timer(unit, thread, state, settings.threads)
        elif isinstance(event, ReplyAttached) and event.mode == "live" and state == "awaiting_reply":
            await _set_idle_timer(unit, thread, state, settings.threads)
        elif isinstance(event, DeadlineChanged):
            await _set_deadline_timers(unit, thread, event, settings.alerts)
    for call in calls(thread, decided):
        await unit.record(call)
    return decided


async def wait_or_open(unit: Unit, thread: Thread, settings: Settings) -> None:
    """Begin the quiet period of what is answered next, its author's own where they have one; or open the turn."""
    await unit.cancel_timer(thread.idle_timer)
    if thread.state == "escalated" or not thread.pending:
        return
    author = thread.next_up[0]
    address = author.addr if author.trusted else ""
    quiet_s = shaped(settings, settings.known_inbox(thread.inbox), address)["quiet_s"].value
    if quiet_s > 0:
        due = max(unit.now, thread.next_up[-1].at + timedelta(seconds=quiet_s))
        await unit.set_timer(_timer(thread, thread.quiet_timer, "quiet", due))
    else:
        await open_turn(unit, thread, settings)


async def open_turn(unit: Unit, thread: Thread, settings: Settings) -> None:
    """Open the turn of what waits, with the operator's rules that hold for it."""
    rules = await before_turn(unit, thread, settings, [one.mail_id for one in thread.next_up])
    because = await for_a_person(unit, thread, rules)
    turn = list(decide_turns.open_turn(thread, unit.cause.id, applied(rules), because))
    await record(unit, thread, [*(put_marks(thread, rules) if turn else ()), *turn], settings)


async def _set_idle_timer(unit: Unit, thread: Thread, state: ThreadState, settings: ThreadSettings) -> None:
    if state == "awaiting_reply":
        due = unit.now + timedelta(days=settings.auto_resolve_days)
        await unit.set_timer(_timer(thread, thread.idle_timer, "auto_resolve", due))
    elif state == "resolved":
        due = unit.now + timedelta(days=settings.auto_close_days)
        await unit.set_timer(_timer(thread, thread.idle_timer, "auto_close", due))
    else:
        await unit.cancel_timer(thread.idle_timer)


async def _set_deadline_timers(unit: Unit, thread: Thread, change: DeadlineChanged, alerts: AlertSettings) -> None:
    """One for the deadline, and one before it where anybody is warned."""
    timer, warning = thread.deadline_timer(change.kind), thread.warning_timer(change.kind)
    if change.status != "running" or change.due_at is None:
        await unit.cancel_timer(timer)
        await unit.cancel_timer(warning)
        return
    await unit.set_timer(_timer(thread, timer, "sla", change.due_at))
    if alerts.warns:
        at = near_at(change.due_at, timedelta(seconds=change.allowed_s), alerts.warn_minutes)
        await unit.set_timer(_timer(thread, warning, "deadline_near", at))


def _timer(thread: Thread, timer_id: UUID, purpose: str, due_at: datetime) -> TimerElapsed:
    return TimerElapsed.model_validate(
        {"timer_id": timer_id, "thread_id": thread.thread_id, "purpose": purpose, "due_at": due_at}
    )
