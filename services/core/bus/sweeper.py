"""Publishes what a crash left stored but unpublished, and tells a broker that forgot what is not yet consumed."""

from __future__ import annotations

from services.core.bus import history
from services.core.bus.runner import publish
from services.core.db import fetch_all
from services.core.house import House

BATCH = 500


async def sweep(house: House, *, age_s: float = 5) -> int:
    """Publish stored events that nobody published for `age_s` seconds; how many there were.

    Two sweepers may publish the same events: consumers know an event by its id.
    """
    async with house.database.reading() as conn:
        rows = await fetch_all(conn, history.SQL.unpublished_since, {"age_s": age_s, "limit": BATCH})
    await publish(house, [history.envelope(row) for row in rows])
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
        await publish(house, [history.envelope(row) for row in rows])
        after, count = rows[-1]["seq"], count + len(rows)
