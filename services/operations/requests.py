"""A person's request goes to the topic of what it is about; the processor that owns that accepts or refuses it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from uuid import UUID

from schemas.events import EventData
from services.core.app import App
from services.core.bus import event_store
from services.core.bus.envelope import Envelope, first
from services.core.clock import random_id, until
from services.core.db import Connection, fetch_one
from services.core.errors import NotDoneYet

WAIT_S = 60.0  # how long a command waits for a decision; pages and the API wait shorter

Check = Callable[[Connection], Awaitable[None]]


class NotDecidedYet(NotDoneYet):
    """The request is on the log, and the processor that decides it has not come to it yet."""


async def ask(app: App, command: EventData, id: UUID | None = None, *, check: Check | None = None) -> Envelope:
    """Put a request on the log, as it stands there; with an id that was used before it is the same request.

    Raises what `check` does, and then nothing is asked.
    """
    asked = first(command, id=id or random_id(), source="console", time=app.now(), workspace=app.settings.workspace)
    from services.core.bus.runner import enter

    await enter(app, asked, check)
    return asked


async def decision_on(app: App, command: EventData, consumer: str, *, timeout_s: float) -> UUID:
    """Ask, and wait until the processor `consumer` has decided; the id of the request. Raises `NotDecidedYet`."""
    asked = await ask(app, command)
    await decided(app, asked.id, asked.time, consumer, timeout_s=timeout_s)
    return asked.id


async def decided(app: App, request: UUID, at: datetime, consumer: str, *, timeout_s: float) -> None:
    """Wait until the processor `consumer` has decided a request of that time. Raises `NotDecidedYet`."""
    key = {"consumer": consumer, "event_id": request, "event_day": at.astimezone(UTC).date()}

    async def is_done() -> bool:
        async with app.database.reading() as conn:
            return await fetch_one(conn, event_store.SQL.is_done, key) is not None

    if not await until(is_done, timeout_s):
        raise NotDecidedYet(
            f"The request is on the log, and {consumer} has not come to it yet: is the deployment running?"
        )
