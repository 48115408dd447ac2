"""One question to the model after each closed turn; its answer is an event, from which projections are applied.

Where nothing usable comes, that is an event as well, and the model is asked again later.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID, uuid5

from schemas.events.memory import TurnReflected
from schemas.events.threads import TimerElapsed, TurnClosed
from services.core.bus import event_store as history
from services.core.bus.envelope import Envelope
from services.core.bus.processor import Handlers
from services.core.bus.work import Work
from services.core.db import fetch_one
from services.core.retries import Schedule
from services.reflect.materials import gather
from services.reflect.reflection import covered, reflect_on, unlearned


async def on_turn_closed(work: Work[TurnClosed]) -> None:
    """Reflect on every turn but those that a newer one took over; about those of nobody proven no model is asked."""
    if work.event.outcome == "superseded":
        return
    if not work.event.trusted:
        await _learn(work, work.envelope, unlearned(work.event))
        return
    materials = await gather(work, work.event)
    await _learn(work, work.envelope, await reflect_on(work, work.event, materials))


async def on_timer(work: Work[TimerElapsed]) -> None:
    """Ask again about a turn that nothing was learned from, unless a later one of its thread has covered it."""
    if work.event.purpose != "reflect_again":
        return
    async with work.reading() as conn:
        row = await fetch_one(conn, history.SQL.by_id, {"id": work.event.subject})
    closed = history.envelope(row) if row else None
    if closed is None or not isinstance(closed.data, TurnClosed) or not closed.data.trusted:
        return
    materials = await gather(work, closed.data)
    learned = await reflect_on(work, closed.data, materials) if materials.news else covered(closed.data)
    await _learn(work, closed, learned)


async def _learn(work: Work[Any], closed: Envelope, learned: TurnReflected) -> None:
    """Record what was learned; where nothing was, and there is a time left to ask again, set the timer for it."""
    at = None
    if not learned.covers_to and learned.usage.calls:
        at = next_attempt(closed.time, work.now, work.moment(), work.app.settings.learning.retry_hours)
    async with work.unit() as unit:
        await unit.record(learned.model_copy(update={"retry_at": at}))
        if at is not None:
            await unit.set_timer(_timer(learned, closed.id, at))


def next_attempt(closed_at: datetime, due_at: datetime, now: datetime, hours: Sequence[float]) -> datetime | None:
    """When the model is asked next about a turn that closed then; None where it was asked often enough.

    `due_at` is when this attempt was due, `now` when it was made: the pause between two counts from the later one.
    """
    at = Schedule.minutes(*(60 * one for one in sorted(hours))).next_since(closed_at, due_at)
    return None if at is None else at + max(timedelta(0), now - due_at)


def _timer(learned: TurnReflected, closed_id: UUID, at: datetime) -> TimerElapsed:
    timer_id = uuid5(learned.turn_id, "reflect again")
    return TimerElapsed(
        timer_id=timer_id, thread_id=learned.thread_id, purpose="reflect_again", subject=closed_id, due_at=at
    )


HANDLERS: Handlers = {TurnClosed: on_turn_closed, TimerElapsed: on_timer}
