"""Holds a thread: reads it under its lock, and records what was decided, with the timers that follow from it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from schemas.events.base import EventData
from schemas.events.marks import DeadlineChanged, PrioritySet
from schemas.events.threads import ReplyAttached, StateChanged, ThreadState, TimerElapsed
from services.core.bus.unit import Unit
from services.core.settings import AlertSettings, Settings, ThreadSettings, shaped
from services.track_threads import decide_turns, goals
from services.track_threads.apply import SQL
from services.track_threads.behaviours import applied, put_marks
from services.track_threads.calls import calls, near_at
from services.track_threads.deadlines import follow
from services.track_threads.occasions import before_turn, for_a_person
from services.track_threads.terms import terms_of
from services.track_threads.thread import Deadline, Goal, OpenTurn, Pending, Thread

Row = dict[str, Any]


async def load(unit: Unit, thread_id: UUID, participant_id: UUID | None = None, inbox: str = "") -> Thread:
    """The thread, held until the end of the transaction."""
    await unit.lock("thread", thread_id)
    row = await unit.one(SQL.thread, thread_id=thread_id)
    if row is None:
        return Thread(thread_id=thread_id, participant_id=participant_id, inbox=inbox)
    pending = await unit.all(SQL.pending, thread_id=thread_id)
    goals = await unit.all(SQL.open_goals, thread_id=thread_id)
    deadlines = await unit.all(SQL.deadlines, thread_id=thread_id)
    turn = None
    if row["open_turn"]:
        told = {name: row[f"turn_{name}"] for name in ("participant_id", "trusted")}
        turn = OpenTurn(row["open_turn"], tuple(row["turn_mails"]), leaving=row["leaving"], **told)
    return Thread(
        thread_id=thread_id,
        participant_id=row["participant_id"],
        inbox=row["inbox"],
        exists=True,
        state=row["state"],
        turn=turn,
        pending=tuple(Pending(**one) for one in pending),
        goals=tuple(Goal(**one) for one in goals),
        priority=row["priority"],
        tags=frozenset(row["tags"]),
        answered=row["answered"],
        by_hand=row["by_hand"],
        deadlines=tuple(_deadline(one) for one in deadlines),
    )


def _deadline(row: Row) -> Deadline:
    allowed_s, left_s = row.pop("allowed_s"), row.pop("left_s")
    left = None if left_s is None else timedelta(seconds=left_s)
    return Deadline(**row, allowed=timedelta(seconds=allowed_s), left=left)


async def record(unit: Unit, thread: Thread, events: Iterable[EventData], settings: Settings) -> list[EventData]:
    """Record what was decided about `thread` as it was, in order; then what follows for goals, deadlines, timers."""
    decided = list(events)
    decided = [*decided, *goals.settled(thread, decided)]
    changes = follow(await _dated(unit, thread, decided), decided, unit.now, terms_of(settings, thread.inbox))
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


async def _dated(unit: Unit, thread: Thread, decided: Iterable[EventData]) -> Thread:
    """The thread with when it was opened last, where another priority may promise a resolution from then on."""
    if not any(isinstance(one, PrioritySet) for one in decided):
        return thread
    row = await unit.one(SQL.began, thread_id=thread.thread_id)
    return replace(thread, began_at=row["at"] if row else None)


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
