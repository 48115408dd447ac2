"""The outbox relay: publishes what a crash or a refusal left in the outbox, and again what a broker forgot.

Invariants
- It publishes rows as they are stored (topic, key, headers, bytes) and decodes none: a type that this version does not
  know, or a shape that it cannot read, goes out like any other.
- An event that the broker refuses holds no other back: it is tried again after pauses of its own.
- A topic that the broker does not take now, for want of replicas or of a leader, holds no other topic back.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence

import structlog

from services.core.app import App
from services.core.bus import event_store
from services.core.bus.event_row import EventRow
from services.core.bus.publisher import LogUnavailable
from services.core.bus.runner import publish_rows, unerased
from services.core.bus.undone_events import SQL as UNDONE
from services.core.bus.undone_events import advance, pairs_of, undone_places
from services.core.clock import pause
from services.core.db import fetch_one, sealed_rows_as

log = structlog.get_logger(__name__)

BATCH = 500
SWEEP_S = 30.0  # what a killed process left is found by then, at the latest
AGAIN_S = 5.0  # after a failure, and while anything is in the outbox


async def relay(app: App, stop: asyncio.Event) -> None:
    """Publish what is due in the outbox until `stop` is set; a broker or database that is away is tried again."""
    while not stop.is_set():
        try:
            rest_s = await _rest_s(app)
            if rest_s <= 0:
                rest_s = 0.0 if await sweep(app) == BATCH else AGAIN_S
        except Exception as error:
            log.warning("the outbox relay failed, will try again", error=repr(error))
            rest_s = AGAIN_S
        await pause(stop, rest_s)


async def _rest_s(app: App) -> float:
    """How long nothing is due, in seconds: a row that waits for its next attempt says when that is."""
    async with app.database.reading() as conn:
        row = await fetch_one(conn, event_store.SQL.outbox_next)
    due_s = row["due_s"] if row else None
    return SWEEP_S if due_s is None else min(float(due_s), SWEEP_S)


async def sweep(app: App) -> int:
    """Publish the stored events that are due in the outbox; how many there were.

    Two relays may publish the same events: consumers know an event by its id. Raises `LogUnavailable` once the topics
    that can be written to have been.
    """
    prefix = app.settings.kafka.topic_prefix
    away: dict[str, LogUnavailable] = {}
    while True:
        args = {"limit": BATCH, "without": [topic.removeprefix(prefix) for topic in away]}
        async with app.database.reading() as conn:
            rows = await sealed_rows_as(conn, EventRow.of, event_store.SQL.outbox_due, args)
        try:
            await publish_rows(app, await unerased(app, rows))
            break
        except LogUnavailable as error:
            if error.topics <= away.keys() or not await app.publisher.answers():
                raise
            away |= dict.fromkeys(error.topics, error)
    if away:
        raise next(iter(away.values()))
    return len(rows)


async def refill(app: App, consumers: list[tuple[str, str]]) -> int:
    """Publish again, in order, what some consumer of `(topic, consumer)` pairs has not done; how many.

    For a broker that starts empty. Harmless on one that does not: the journal knows what is done. Its cost is that of
    what is undone (`undone_events.py`), however long the history.
    """
    return (await refill_counted(app, consumers)).total()


async def refill_counted(app: App, consumers: list[tuple[str, str]]) -> Counter[str]:
    """The same; how many events of each topic, named without the prefix."""
    pairs = pairs_of(consumers)
    await advance(app, pairs)
    async with app.database.reading() as conn:
        places = await undone_places(conn, pairs)
    return await publish_places(app, places)


async def publish_places(app: App, places: Sequence[int]) -> Counter[str]:
    """Publish stored events again by where they stand (`events.seq`); how many of each topic."""
    counts: Counter[str] = Counter()
    for start in range(0, len(places), BATCH):
        async with app.database.reading() as conn:
            args = {"places": list(places[start : start + BATCH])}
            rows = await sealed_rows_as(conn, EventRow.of, UNDONE.at_places, args)
        await publish_rows(app, await unerased(app, rows))
        counts.update(row.topic for row in rows)
    return counts
