"""Publishes what a crash left stored but unpublished, and tells a broker that forgot what is not yet consumed.

Invariant: an event that cannot go, since its people were erased or the log refuses it, holds no other back.
"""

from __future__ import annotations

from collections.abc import Sequence

import structlog

from services.core.bus import history
from services.core.bus.envelope import Envelope
from services.core.bus.publisher import LogRefused
from services.core.bus.runner import publish, readable
from services.core.db import fetch_all
from services.core.house import House

log = structlog.get_logger(__name__)

BATCH = 500


async def sweep(house: House, *, age_s: float = 5) -> int:
    """Publish stored events that nobody published for `age_s` seconds; how many there were.

    Two sweepers may publish the same events: consumers know an event by its id.
    """
    async with house.database.reading() as conn:
        rows = await fetch_all(conn, history.SQL.unpublished_since, {"age_s": age_s, "limit": BATCH})
    await _publish_each(house, await readable(house, rows))
    return len(rows)


async def refill(house: House, consumers: list[tuple[str, str]]) -> int:
    """Publish again, in order, what some consumer of `(topic, consumer)` pairs has not done; how many.

    For a broker that starts empty. Harmless on one that does not: the journal knows what is done.
    """
    topics, names = [topic for topic, _ in consumers], [name for _, name in consumers]
    after, count = -1, 0
    while True:
        args = {"after": after, "topics": topics, "consumers": names, "limit": BATCH}
        async with house.database.reading() as conn:
            rows = await fetch_all(conn, history.SQL.unconsumed, args)
        if not rows:
            return count
        await _publish_each(house, await readable(house, rows))
        after, count = rows[-1]["seq"], count + len(rows)


async def _publish_each(house: House, envelopes: Sequence[Envelope]) -> None:
    """All at once; where the log refuses that, one by one, so that only what it refuses stays behind."""
    try:
        await publish(house, envelopes)
    except LogRefused:
        for one in envelopes:
            await _publish_one(house, one)


async def _publish_one(house: House, envelope: Envelope) -> None:
    try:
        await publish(house, [envelope])
    except LogRefused as error:
        log.error("the log refuses a stored event", id=str(envelope.id), type=envelope.type, error=str(error))
