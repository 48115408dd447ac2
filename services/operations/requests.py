"""A person's request goes to the topic of what it is about; the processor that owns that accepts or refuses it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import UTC
from typing import TypeVar
from uuid import UUID

from schemas.events import EventData
from services.core.app import App
from services.core.bus import event_store as history
from services.core.bus.envelope import Envelope, first
from services.core.clock import monotonic, random_id
from services.core.db import fetch_one
from services.core.errors import Temporary

T = TypeVar("T")

LOOK_EVERY_S = 0.05


class NotDecidedYet(Temporary):
    """The request is on the log, and the processor that decides it has not come to it yet."""


async def ask(app: App, command: EventData, id: UUID | None = None) -> Envelope:
    """Put a request on the log, as it stands there; with an id that was used before it is the same request."""
    asked = first(command, id=id or random_id(), source="console", time=app.now(), workspace=app.settings.workspace)
    from services.core.bus.runner import enter

    await enter(app, asked)
    return asked


async def decision_on(app: App, command: EventData, consumer: str, *, timeout_s: float) -> UUID:
    """Ask, and wait until the processor `consumer` has decided; the id of the request. Raises `NotDecidedYet`."""
    asked = await ask(app, command)
    key = {"consumer": consumer, "event_id": asked.id, "event_day": asked.time.astimezone(UTC).date()}

    async def is_done() -> bool:
        async with app.database.reading() as conn:
            return await fetch_one(conn, history.SQL.is_done, key) is not None

    if not await until(is_done, timeout_s):
        raise NotDecidedYet(
            f"The request is on the log, and {consumer} has not come to it yet: is the deployment running?"
        )
    return asked.id


async def until(look: Callable[[], Awaitable[T | None]], timeout_s: float) -> T | None:
    """What `look` finds, which is asked again and again; None where it has found nothing after so many seconds."""
    deadline = monotonic() + timeout_s
    while True:
        found = await look()
        if found or monotonic() > deadline:
            return found or None
        await asyncio.sleep(LOOK_EVERY_S)
