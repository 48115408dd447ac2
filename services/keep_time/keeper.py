"""Timers: sleep until the next one, publish what is due. Also the outbox relay and the coming days of the journal.

A timer that is set for soon is announced by Postgres (`timers_soon`, migration 0230), so nobody asks for it again and
again. A slow sweep covers an announcement that was lost with its connection, and a wall clock that was set.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, TypeVar
from uuid import UUID, uuid5

import structlog
from pydantic import ValidationError

from schemas.events.threads import TimerElapsed
from services.core.app import App
from services.core.bus import event_store
from services.core.bus.envelope import Envelope
from services.core.bus.outbox_relay import relay
from services.core.bus.runner import publish
from services.core.clock import either, pause, utc_now
from services.core.db import fetch_one, queries, rows_as
from services.core.db.notices import listen

log = structlog.get_logger(__name__)

T = TypeVar("T")

SQL = queries(__file__)
KEEP_TIME = "keep_time"  # the source of what nobody but the clock asks for
BATCH = 200
TICK_S = 0.25  # with a clock that is not the wall's: it may jump, and nobody announces that
SWEEP_S = 110.0  # less than two minutes: what is due earlier is announced (migration 0230)
AGAIN_S = 1.0  # after a failure
CHANNEL = "correspondent_timers"
DAYS_AHEAD = 7


@dataclass(frozen=True, slots=True)
class Timer:
    """A timer that has come due. `event` is its `timer.elapsed` as JSON, perhaps of a newer release."""

    id: UUID
    workspace: str
    due_at: datetime
    correlation_id: UUID
    causation_id: UUID
    event: Any


async def run(app: App, stop: asyncio.Event) -> None:
    """Keep time, and relay the outbox, until `stop` is set: timers never wait for what the broker refuses."""
    async with asyncio.TaskGroup() as group:
        woken = asyncio.Event()
        hears = listen(app.settings.database_url, {CHANNEL: lambda _: woken.set()}, stop)
        group.create_task(relay(app, stop), name="outbox relay")
        group.create_task(hears, name="announced timers")
        group.create_task(_keep_time(app, stop, woken), name="timers")


async def _keep_time(app: App, stop: asyncio.Event, woken: asyncio.Event) -> None:
    """What fails is tried again in a moment."""
    prepared = app.now() - timedelta(days=2)
    while not stop.is_set():
        woken.clear()
        now = app.now()
        rest = await _done(rest_s(app))
        fired = await _done(fire_due(app)) if rest is not None and rest <= 0 else 0
        if abs(now - prepared) >= timedelta(days=1):
            prepared = now
            await _done(prepare_days(app))
        if rest is None or fired is None:
            await pause(stop, AGAIN_S)
        elif rest > 0:
            await either(stop, woken, min(rest, SWEEP_S))
        elif not fired:  # another keeper has them
            await pause(stop, TICK_S)


async def rest_s(app: App) -> float:
    """How long nothing is due, in seconds, as far as is known now; 0 or less where something is."""
    async with app.database.reading() as conn:
        row = await fetch_one(conn, SQL.next_timer)
    due_at: datetime | None = row["due_at"] if row else None
    rest = SWEEP_S if due_at is None else (due_at - app.now()).total_seconds()
    return rest if app.now is utc_now else min(rest, TICK_S)


async def fire_due(app: App) -> int:
    """Publish `timer.elapsed` for every due timer; how many. One that cannot be read stays for a newer version."""
    now = app.now()
    async with app.database.transaction() as conn:
        due = await rows_as(conn, Timer, event_store.SQL.due_timers, {"now": now, "limit": BATCH})
        read = [(timer.id, _readable(timer)) for timer in due]
        elapsed = await event_store.store(conn, [one for _, one in read if one])
        for id, one in read:
            await conn.execute(
                event_store.SQL.cancel_timer if one else event_store.SQL.look_later, {"id": id, "now": now}
            )
    await publish(app, elapsed)
    return len(elapsed)


async def prepare_days(app: App) -> None:
    """Make the journal's partitions for the coming days."""
    today = app.now().date()
    async with app.database.transaction() as conn:
        for ahead in range(DAYS_AHEAD):
            await conn.execute(SQL.prepare_day, {"day": today + timedelta(days=ahead)})


async def _done(step: Awaitable[T]) -> T | None:
    """What a step of keeping time gives, or None where it failed: no step stops another."""
    try:
        return await step
    except Exception as error:
        log.warning("keeping time failed, will try again", error=repr(error))
        return None


def _readable(timer: Timer) -> Envelope | None:
    try:
        return _elapsed(timer)
    except ValidationError as error:
        log.error("a timer cannot be read", timer=str(timer.id), error=str(error))
        return None


def _elapsed(timer: Timer) -> Envelope:
    """The event of a timer: what was set once gives one event, however often a keeper crashes over it.

    By its cause, too: where a clock was put back, what happens later may set a timer to a moment at which it came.
    """
    return Envelope(
        id=uuid5(timer.id, f"{timer.due_at.isoformat()} {timer.causation_id}"),
        source=KEEP_TIME,
        time=timer.due_at,
        workspace=timer.workspace,
        data=TimerElapsed.model_validate(timer.event),
        correlation_id=timer.correlation_id,
        causation_id=timer.causation_id,
    )
