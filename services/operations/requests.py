"""A person's request goes to the topic of what it is about; the processor that owns that accepts or refuses it."""

from __future__ import annotations

import asyncio
from datetime import UTC

from schemas.events import EventData
from services.core.app import App
from services.core.bus import event_store as history
from services.core.bus.envelope import Envelope, first
from services.core.clock import monotonic, random_id
from services.core.db import fetch_one

LOOK_EVERY_S = 0.05


async def ask(app: App, command: EventData) -> Envelope:
    """Put a request on the log, as it stands there."""
    asked = first(command, id=random_id(), source="console", time=app.now(), workspace=app.settings.workspace)
    from services.core.bus.runner import enter

    await enter(app, asked)
    return asked


async def decided(app: App, asked: Envelope, consumer: str, *, timeout_s: float) -> bool:
    """Whether the processor that decides this request has done so within so many seconds."""
    day = asked.time.astimezone(UTC).date()
    key = {"consumer": consumer, "event_id": asked.id, "event_day": day}
    deadline = monotonic() + timeout_s
    while True:
        async with app.database.reading() as conn:
            if await fetch_one(conn, history.SQL.is_done, key):
                return True
        if monotonic() > deadline:
            return False
        await asyncio.sleep(LOOK_EVERY_S)
