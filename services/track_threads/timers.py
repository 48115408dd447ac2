"""What comes due in a thread: the end of a quiet period, a time in which nothing happened, a missed deadline."""

from __future__ import annotations

from schemas.events.marks import DeadlineKind
from schemas.events.threads import TimerElapsed
from services.core.bus.unit import Unit
from services.core.bus.work import Work
from services.track_threads import decide_steps, decide_turns, marks
from services.track_threads.apply import SQL
from services.track_threads.calls import near, near_at
from services.track_threads.deadlines import breached
from services.track_threads.expiring import let_go
from services.track_threads.keeping import open_turn, record
from services.track_threads.load import load
from services.track_threads.thread import Thread

PURPOSES = frozenset({"quiet", "auto_resolve", "auto_close", "sla", "deadline_near", "retention"})


async def on_timer(work: Work[TimerElapsed]) -> None:
    """One timer of a thread; those of replies are send_email's."""
    timer, settings = work.event, work.app.settings
    if timer.purpose not in PURPOSES:
        return
    async with work.unit() as unit:
        thread = await load(unit, timer.thread_id)
        if timer.purpose == "quiet":
            await open_turn(unit, thread, settings)
        elif timer.purpose == "retention":
            await let_go(unit, thread, settings.retention)
        elif timer.purpose == "sla":
            await record(unit, thread, await _missed(unit, thread, timer), settings)
        elif timer.purpose == "deadline_near":
            await _warn(unit, thread, timer, settings.alerts.warn_minutes)
        else:
            await record(unit, thread, _idle(thread, timer), settings)


def _idle(thread: Thread, timer: TimerElapsed) -> decide_steps.Events:
    if timer.purpose == "auto_resolve" and thread.state == "awaiting_reply":
        yield decide_steps.transition(thread, "resolved", "system", "no answer from the customer")
    elif timer.purpose == "auto_close" and thread.state == "resolved":
        yield decide_steps.transition(thread, "closed", "system", "resolved for long enough")


async def _missed(unit: Unit, thread: Thread, timer: TimerElapsed) -> decide_steps.Events:
    """A timer that was moved or cancelled after it had left is not heeded."""
    kind = _kind(thread, timer)
    breach = breached(thread, kind) if kind else None
    if breach is None or breach.due_at is None or breach.due_at > timer.due_at:
        return iter(())
    drafted = await unit.one(SQL.drafted, thread_id=str(thread.thread_id), turn_id=_turn(thread))
    events = list(decide_turns.missed(thread, breach))
    text = drafted["data"].get("text") if drafted else ""
    if text:
        events.append(marks.note(thread, f"{SUGGESTED}\n\n{text}", "agent", "ai", unit.cause.id))
    return iter(events)


async def _warn(unit: Unit, thread: Thread, timer: TimerElapsed, warn_minutes: float) -> None:
    """A person is called, unless the deadline was kept, moved or put off since the timer left."""
    for one in thread.deadlines:
        running = one.status == "running" and one.due_at is not None
        if running and thread.warning_timer(one.kind) == timer.timer_id:
            assert one.due_at is not None
            if near_at(one.due_at, one.allowed, warn_minutes) <= timer.due_at:
                await unit.record(near(thread, one))


SUGGESTED = "What the agent had drafted when the thread was escalated:"


def _turn(thread: Thread) -> str | None:
    return str(thread.turn.turn_id) if thread.turn and not thread.turn.leaving else None


def _kind(thread: Thread, timer: TimerElapsed) -> DeadlineKind | None:
    return next((one.kind for one in thread.deadlines if thread.deadline_timer(one.kind) == timer.timer_id), None)
