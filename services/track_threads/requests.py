"""What people ask of a thread: a step of its state machine, a priority, tags, a note."""

from __future__ import annotations

from dataclasses import replace

from schemas.events.marks import ThreadMarksRequested
from schemas.events.threads import StateChanged, ThreadTransitionRequested
from services.core.bus.work import Work
from services.track_threads import decide_steps, marks
from services.track_threads.keeping import record, wait_or_open
from services.track_threads.load import load
from services.track_threads.takeover import done_by_hand, handed_back


async def on_transition(work: Work[ThreadTransitionRequested]) -> None:
    """A step: made or refused, and logged either way. Handed back, what waits is answered; resolved, it is done."""
    event, settings = work.event, work.app.settings
    async with work.unit() as unit:
        thread = await load(unit, event.thread_id)
        if not thread.exists:
            return
        step = decide_steps.transition(thread, event.to_state, event.trigger, f"{event.by}: {event.reason}")
        made = isinstance(step, StateChanged)
        if made and event.to_state == "resolved":
            await unit.cancel_timer(thread.quiet_timer)
            await record(unit, thread, [*done_by_hand(thread, unit.cause.id), step], settings)
        else:
            back = made and thread.state == "escalated"
            await record(unit, thread, [step, *(handed_back(thread) if back else ())], settings)
        if made and event.to_state == "in_progress" and thread.pending:
            await wait_or_open(unit, replace(thread, state="in_progress"), settings)


async def on_marks(work: Work[ThreadMarksRequested]) -> None:
    """Priority, tags, a note."""
    async with work.unit() as unit:
        thread = await load(unit, work.event.thread_id)
        if thread.exists:
            await record(unit, thread, marks.requested(thread, work.event, work.envelope.id), work.app.settings)
