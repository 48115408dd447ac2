"""The loop: sleep until the next timer, publish what is due, sweep, prepare the journal's days."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from datetime import timedelta
from typing import TypeVar
from uuid import uuid5

import structlog
from pydantic import ValidationError

from schemas.events.threads import TimerElapsed
from services.core.bus import history
from services.core.bus.envelope import Envelope
from services.core.bus.runner import publish
from services.core.bus.sweeper import sweep
from services.core.bus.unit import Row
from services.core.clock import pause
from services.core.db import fetch_all, queries
from services.core.house import House

log = structlog.get_logger(__name__)

T = TypeVar("T")

SQL = queries(__file__)
BATCH = 200
TICK_S = 0.25
SWEEP_EVERY = timedelta(seconds=5)
DAYS_AHEAD = 7


async def run(house: House, stop: asyncio.Event) -> None:
    """Keep time until `stop` is set. What fails is tried again at the next tick."""
    swept = prepared = house.now() - timedelta(days=2)
    while not stop.is_set():
        now = house.now()
        fired = await _done(fire_due(house)) or 0
        if abs(now - swept) >= SWEEP_EVERY:
            swept = now
            await _done(sweep(house))
        if abs(now - prepared) >= timedelta(days=1):
            prepared = now
            await _done(prepare_days(house))
        if fired < BATCH:
            await pause(stop, TICK_S)


async def fire_due(house: House) -> int:
    """Publish `timer.elapsed` for every timer that is due; how many. One that cannot be read is put off by a day."""
    now = house.now()
    async with house.database.transaction() as conn:
        rows = await fetch_all(conn, history.SQL.due_timers, {"now": now, "limit": BATCH})
        read = [(row["id"], _readable(row)) for row in rows]
        elapsed = await history.store(conn, [one for _, one in read if one])
        for timer, one in read:
            await conn.execute(history.SQL.cancel_timer if one else history.SQL.put_off, {"id": timer})
    await publish(house, elapsed)
    return len(elapsed)


async def prepare_days(house: House) -> None:
    """Make the journal's partitions for the coming days."""
    today = house.now().date()
    async with house.database.transaction() as conn:
        for ahead in range(DAYS_AHEAD):
            await conn.execute(SQL.prepare_day, {"day": today + timedelta(days=ahead)})


async def _done(step: Awaitable[T]) -> T | None:
    """What a step of keeping time gives, or None where it failed: no step stops another."""
    try:
        return await step
    except Exception as error:
        log.warning("keeping time failed, will try again", error=repr(error))
        return None


def _readable(row: Row) -> Envelope | None:
    try:
        return _elapsed(row)
    except ValidationError as error:
        log.error("a timer cannot be read", timer=str(row["id"]), error=str(error))
        return None


def _elapsed(row: Row) -> Envelope:
    """The event of a timer: the same timer at the same time gives the same event."""
    return Envelope(
        id=uuid5(row["id"], row["due_at"].isoformat()),
        source="keep_time",
        time=row["due_at"],
        workspace=row["workspace"],
        data=TimerElapsed.model_validate(row["event"]),
        correlation_id=row["correlation_id"],
        causation_id=row["causation_id"],
    )
