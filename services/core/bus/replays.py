"""A replay has no effect outside of its sandbox.

No group takes an event with a replay's mark from a log (`Runner.handle`), since what the event caused would be stored
without the mark. A processor that reaches people refuses one in a sandbox, too, before any handler sees it.
"""

from __future__ import annotations

from typing import Any

from services.core.bus.envelope import Envelope
from services.core.bus.processor import Handler, Handlers
from services.core.bus.work import Work
from services.core.errors import Permanent


class ReplayRefused(Permanent):
    """The event carries a replay mark, and a replay reaches nobody."""


def refuse_replay(envelope: Envelope) -> None:
    """Raises `ReplayRefused` for an event of a replay."""
    if envelope.replay:
        raise ReplayRefused(f"{envelope.type} {envelope.id} belongs to replay {envelope.replay}")


def refusing_replays(handlers: Handlers) -> Handlers:
    """The handlers, each of which raises `ReplayRefused` for an event of a replay."""
    return {event: _refusing(handler) for event, handler in handlers.items()}


def _refusing(handler: Handler) -> Handler:
    async def handle(work: Work[Any]) -> None:
        refuse_replay(work.envelope)
        await handler(work)

    return handle
