"""A processor as data: its name (folder, consumer group), its handlers, and what it owns. And an edge, likewise."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from schemas.events import EventData
from schemas.events.threads import TurnFailed
from schemas.topics import catalogue
from services.core.app import App
from services.core.bus.envelope import Envelope
from services.core.bus.unit import Appliers, Unit
from services.core.bus.work import Work
from services.core.errors import Permanent
from services.core.storable import storable

if TYPE_CHECKING:
    from fastapi import APIRouter

Handler = Callable[[Work[Any]], Awaitable[None]]
Handlers = Mapping[type[EventData], Handler]
GiveUp = Callable[[Unit, BaseException], Awaitable[bool]]


@dataclass(frozen=True, slots=True)
class Processor:
    """One folder, one consumer group, one process that can be scaled.

    `give_up` records what tells the flow that an event could not be handled (a failed turn); where it says False, or
    is not set, the event goes to the dead letters. `lane` says what orders events here: the Kafka
    key, or the data subject. Where it asks a model, its events wait while the model's circuit is open. One that decides
    `at_once` does all that it does for an event in a single unit: the unit's journal row says whether that was done
    before, and what the unit stored is all that there is to publish. One in the `background` lets
    replies go first: nobody waits for what it does.
    """

    name: str
    handlers: Handlers
    appliers: Appliers = field(default_factory=dict)
    give_up: GiveUp | None = None
    lane: Literal["key", "subject"] = "key"
    asks_model: bool = False
    at_once: bool = False
    background: bool = False

    @property
    def topics(self) -> tuple[str, ...]:
        """What it consumes, as `topics.yaml` says."""
        return catalogue().consumed_by(self.name)


@dataclass(frozen=True, slots=True)
class Edge:
    """One folder that meets the outside world and consumes no topic: an inbox, a clock, a person.

    `run` works until the event is set. `routes` is what the edge answers over HTTP; the process's one web server
    (`core.web.run_edges`) serves the routes of all its edges. `calls` is what other programs are called with over HTTP:
    no routes of ours, and in the OpenAPI document.
    """

    name: str
    run: Callable[[App, asyncio.Event], Coroutine[Any, Any, None]]
    routes: Callable[[App], APIRouter] | None = None
    calls: Callable[[], APIRouter] | None = None


# How a processor of a turn gives up: the turn has failed, and people will be alerted.


def failed_turn(processor: str) -> GiveUp:
    """A `give_up` that turns an event of a turn into `turn.failed`; other events go to the dead letters."""

    async def give_up(unit: Unit, error: BaseException) -> bool:
        data = unit.cause.data
        turn_id, thread_id = getattr(data, "turn_id", None), getattr(data, "thread_id", None)
        if turn_id is None or thread_id is None:
            return False
        said = storable(f"{type(error).__name__}: {error}"[:500])
        await unit.record(TurnFailed(thread_id=thread_id, turn_id=turn_id, processor=processor, error=said))
        return True

    return give_up


# A replay has no effect outside of its sandbox.
#
# No group takes an event with a replay's mark from a log (`Runner.handle`), since what the event caused would be stored
# without the mark. A processor that reaches people refuses one in a sandbox, too, before any handler sees it.


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
