"""A history in another order: aggregates interleaved by chance, each event given again at once or later."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import AsyncIterator, Iterable
from dataclasses import replace

from services.core.bus.envelope import Envelope


def interleaved(events: Iterable[Envelope], dice: random.Random) -> list[Envelope]:
    """A random merge that keeps each aggregate's own order."""
    queues: dict[tuple[str, object], list[Envelope]] = defaultdict(list)
    for event in events:
        queues[event.data.AGGREGATE, event.data.aggregate_id()].append(event)
    turns = [key for key, queue in queues.items() for _ in queue]
    dice.shuffle(turns)
    sources = {key: iter(queue) for key, queue in queues.items()}
    return [next(sources[key]) for key in turns]


def doubled(events: list[Envelope], dice: random.Random) -> list[Envelope]:
    """Each event comes again, at once or later."""
    places = [(index, event) for index, event in enumerate(events)]
    again = [(index + dice.choice((0.5, 20.5, 300.5)), replace(event)) for index, event in places]
    return [event for _, event in sorted([*places, *again], key=lambda one: one[0])]


async def each(events: Iterable[Envelope]) -> AsyncIterator[Envelope]:
    """The events one after the other."""
    for event in events:
        yield event
