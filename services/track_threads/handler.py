"""What happens to a thread: its state is read under its lock, a decision is made, and what it gives is recorded."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from schemas.events.base import EventData
from schemas.events.mail import EmailRead
from schemas.events.replies import ReplyDiscarded, ReplyDrafted, ReplyFailed
from schemas.events.threads import TimerElapsed
from services.core.bus.processor import Handlers, failed_turn
from services.core.bus.unit import Unit
from services.core.bus.work import Work
from services.track_threads.consequences import Timer
from services.track_threads.decide import DECISIONS, concerns, decide
from services.track_threads.load import load, look_up

_failed_turn = failed_turn("track_threads")


async def handle(work: Work[Any]) -> None:
    """One event, of whatever kind: a mail, what became of a reply, a timer, what a person asks for."""
    event, settings = work.event, work.app.settings
    if not concerns(event):
        return
    async with work.unit() as unit:
        thread = await load(unit, event.thread_id, event if isinstance(event, EmailRead) else None)
        thread, command = await look_up(unit, thread, event, settings)
        for one in decide(thread, command):
            if isinstance(one, Timer):
                await _set(unit, one, event.thread_id)
            else:
                await unit.record(one)


async def give_up(unit: Unit, error: BaseException) -> bool:
    """A turn whose draft goes nowhere has failed, and people are alerted.

    What may have left is never failed, since a failed turn may be opened again and would then be answered twice. That
    event, like one that opens no turn, stays a dead letter, and is handled when it is redriven.
    """
    return _goes_nowhere(unit.cause.data) and await _failed_turn(unit, error)


def _goes_nowhere(data: EventData) -> bool:
    no_reply = isinstance(data, ReplyDrafted) and data.decision == "no_reply"
    return no_reply or isinstance(data, ReplyDiscarded | ReplyFailed)


async def _set(unit: Unit, timer: Timer, thread_id: UUID) -> None:
    if timer.purpose is None or timer.due_at is None:
        await unit.cancel_timer(timer.timer_id)
    else:
        await unit.set_timer(
            TimerElapsed(timer_id=timer.timer_id, thread_id=thread_id, purpose=timer.purpose, due_at=timer.due_at)
        )


HANDLERS: Handlers = dict.fromkeys(DECISIONS, handle)
