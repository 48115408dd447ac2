"""A replay sends no mail: whatever carries its mark is refused at the door, before any handler sees it."""

from __future__ import annotations

from typing import Any

from services.core.bus.processor import GiveUp, Handler, Handlers
from services.core.bus.unit import Unit
from services.core.bus.work import Work
from services.core.errors import Permanent


class ReplayRefused(Permanent):
    """The event carries a replay mark, and a replay sends no mail."""


def refusing_replays(handlers: Handlers) -> Handlers:
    """The handlers, each of which raises `ReplayRefused` for an event of a replay."""
    return {event: _refusing(handler) for event, handler in handlers.items()}


def silent_on_replays(give_up: GiveUp) -> GiveUp:
    """A `give_up` that fails no turn because of a replay: its event goes to the dead letters."""

    async def told(unit: Unit, error: BaseException) -> bool:
        return not unit.cause.replay and await give_up(unit, error)

    return told


def _refusing(handler: Handler) -> Handler:
    async def handle(work: Work[Any]) -> None:
        if work.envelope.replay:
            raise ReplayRefused(f"{work.envelope.type} {work.envelope.id} belongs to replay {work.envelope.replay}")
        await handler(work)

    return handle
