"""One question to the model about each turn; its answer is an event, from which projections are applied.

It is asked when the turn has ended, or before, when its reply is ready and has to wait (`turn`). Where nothing usable
comes, that is an event as well, and the model is asked again later.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID, uuid5

from schemas.events.base import EventData
from schemas.events.memory import TurnReflected
from schemas.events.replies import ReplyDeferred, ReplyHeld
from schemas.events.threads import TimerElapsed, TurnClosed
from services.core.bus import event_store
from services.core.bus.envelope import Envelope
from services.core.bus.event_row import EventRow
from services.core.bus.processor import Handlers
from services.core.bus.work import Work
from services.core.db import Connection, row_as
from services.core.keys import Erased
from services.core.retries import Schedule
from services.reflect.materials import gather
from services.reflect.reflection import covered, learned_before, reflect_on, unlearned
from services.reflect.turn import DRAFTED, SQL, Turn, Waiting, ended, learned_early, waiting


async def on_turn_closed(work: Work[TurnClosed]) -> None:
    """Reflect on every turn but those that a newer one took over; of nobody proven, or learned from, none is asked."""
    if work.event.outcome == "superseded":
        return
    if not work.event.trusted:
        await _learn(work, work.envelope, unlearned(ended(work.event)))
        return
    turn = ended(work.event)
    async with work.reading() as conn:
        try:
            early = await learned_early(conn, work.event)
        except Erased:  # whom it was learned from is erased: nothing is left to learn, and nobody to note it for
            return
        materials = None if early else await gather(work, conn, turn)
    learned = await reflect_on(work, turn, materials) if materials else early and learned_before(turn, early)
    if learned:
        await _learn(work, work.envelope, learned)


async def on_waiting(work: Work[Waiting]) -> None:
    """A reply is ready and waits: what its mails say is learned now, once for a turn."""
    async with work.reading() as conn:
        turn = await waiting(conn, work.event)
        materials = await gather(work, conn, turn) if turn else None
    if turn and materials:
        await _learn(work, work.envelope, await reflect_on(work, turn, materials))


async def on_timer(work: Work[TimerElapsed]) -> None:
    """Ask again about a turn that nothing was learned from, unless a later one of its thread has covered it."""
    if work.event.purpose != "reflect_again":
        return
    async with work.reading() as conn:
        row = await row_as(conn, EventRow.of, event_store.SQL.by_id, {"id": work.event.subject})
        asked = row.envelope() if row else None
        turn = await _asked_again(conn, asked.data) if asked else None
        materials = await gather(work, conn, turn) if turn else None
    if asked and turn and materials:
        learned = await reflect_on(work, turn, materials) if materials.news else covered(turn)
        await _learn(work, asked, learned)


async def _asked_again(conn: Connection, data: EventData) -> Turn | None:
    if isinstance(data, ReplyHeld | ReplyDeferred):
        return await waiting(conn, data, asked_again=True)
    return ended(data) if isinstance(data, TurnClosed) and data.trusted else None


async def _learn(work: Work[Any], asked: Envelope, learned: TurnReflected) -> None:
    """Record what was learned; where nothing was, and there is a time left to ask again, set the timer for it.

    A turn that has ended while its waiting reply was learned from is learned from when its end is handled.
    """
    at = None
    if not learned.covers_to and learned.usage.calls:
        at = next_attempt(asked.time, work.now, work.moment(), work.app.settings.learning.retry_hours)
    async with work.unit() as unit:
        if learned.outcome == DRAFTED:
            await unit.lock("thread", learned.thread_id)
            if await unit.one(SQL.still_open, turn_id=learned.turn_id) is None:
                return
        await unit.record(learned.model_copy(update={"retry_at": at}))
        if at is not None:
            await unit.set_timer(_timer(learned, asked.id, at))


def next_attempt(asked_at: datetime, due_at: datetime, now: datetime, hours: Sequence[float]) -> datetime | None:
    """When the model is asked next about a turn, `asked_at` for the first time; None where it was asked often enough.

    `due_at` is when this attempt was due, `now` when it was made: the pause between two counts from the later one.
    """
    at = Schedule.minutes(*(60 * one for one in sorted(hours))).next_since(asked_at, due_at)
    return None if at is None else at + max(timedelta(0), now - due_at)


def _timer(learned: TurnReflected, asked_id: UUID, at: datetime) -> TimerElapsed:
    timer_id = uuid5(learned.turn_id, "reflect again")
    return TimerElapsed(
        timer_id=timer_id, thread_id=learned.thread_id, purpose="reflect_again", subject=asked_id, due_at=at
    )


HANDLERS: Handlers = {
    TurnClosed: on_turn_closed,
    ReplyHeld: on_waiting,
    ReplyDeferred: on_waiting,
    TimerElapsed: on_timer,
}
