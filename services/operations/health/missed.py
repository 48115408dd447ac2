"""Publishes again what a consumer's offset has passed although the consumer never did it.

A broker may acknowledge a record and lose it, and an older release may leave one out at a rebalance. No offset shows
that; the journal does. So an event that stays undone while its consumer goes on is published once more.

Invariants
- Only what is certainly missed: a look notes where the topic ends; once the group has committed up to there, an event
  that was on the log and is still undone is not on the way any more.
- A dead letter that waits for a person, and what a consumer holds, are not missed.
- Each event is published again a few times at most by one process. What stays undone then is an alert (`watch`).
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from uuid import UUID

import structlog

from schemas.topics import catalogue
from services.core.app import App
from services.core.bus.delivery import Partition
from services.core.bus.outbox_relay import publish_places
from services.core.bus.topics_admin import committed_by, ends
from services.core.bus.undone_events import not_done_args, pairs_of
from services.core.clock import pause
from services.core.db import fetch_all, queries
from services.operations.dead_letters.places import catch_up

log = structlog.get_logger(__name__)

SQL = queries(__file__)
LOOK_EVERY_S = 30.0
OLD_S = 20.0  # what is undone for so long is suspected; it may only wait its turn
MOST_AT_ONCE = 500
TRIES = 3


@dataclass(frozen=True, slots=True)
class Suspect:
    """An event that one of its consumers has not done."""

    consumer: str
    topic: str
    event_id: UUID
    seq: int


class MissedEvents:
    """Looks for missed events of one deployment, and remembers from look to look where topics ended."""

    def __init__(self, app: App) -> None:
        self._app = app
        self._noted: dict[Suspect, Mapping[Partition, int]] = {}
        self._tries: Counter[UUID] = Counter()

    async def keep(self, stop: asyncio.Event) -> None:
        """`look` until `stop` is set; a broker or database that does not answer is asked again."""
        while not stop.is_set():
            await pause(stop, LOOK_EVERY_S)
            if stop.is_set():
                return
            try:
                await self.look()
            except Exception as error:
                log.warning("missed events could not be looked for, will try again", error=repr(error))

    async def look(self) -> int:
        """Publish again what was suspected before and has been passed meanwhile; how many events.

        Raises what the broker's client and the database raise.
        """
        suspects = await self._suspects()
        if suspects:
            await catch_up(self._app)  # dead letters that came meanwhile are no suspects
            suspects = await self._suspects()
        if not suspects:
            self._noted.clear()
            return 0
        missed = await self._passed([one for one in suspects if one in self._noted])
        if missed:
            consumers = dict(Counter(one.consumer for one in missed))
            log.warning("published again what a consumer never got", events=len(missed), consumers=consumers)
            await publish_places(self._app, sorted({one.seq for one in missed}))
            self._tries.update({one.event_id for one in missed})
        topic_ends = await self._ends({one.topic for one in suspects})
        self._noted = {
            one: topic_ends[one.topic] if one in missed or one not in self._noted else self._noted[one]
            for one in suspects
        }
        return len(missed)

    async def _suspects(self) -> list[Suspect]:
        spent = [id for id, tries in self._tries.items() if tries >= TRIES]
        pairs = pairs_of(catalogue().consumers())
        async with self._app.database.reading() as conn:
            args = await not_done_args(conn, pairs)
            more = {"older_s": OLD_S, "spent": spent, "limit": MOST_AT_ONCE}
            return [Suspect(**row) for row in await fetch_all(conn, SQL.suspects, args | more)]

    async def _passed(self, suspects: list[Suspect]) -> set[Suspect]:
        """Those whose consumer has committed everything that was on the topic when they were noted."""
        prefix = self._app.settings.kafka.topic_prefix
        wanted: dict[str, set[Partition]] = {}
        for one in suspects:
            wanted.setdefault(prefix + one.consumer, set()).update(self._noted[one])
        if not wanted:
            return set()
        reached = await committed_by(self._app.settings.kafka, {name: sorted(at) for name, at in wanted.items()})
        return {
            one
            for one in suspects
            if all(reached[prefix + one.consumer][place] >= end for place, end in self._noted[one].items())
        }

    async def _ends(self, topics: set[str]) -> dict[str, dict[Partition, int]]:
        prefix = self._app.settings.kafka.topic_prefix
        found = await ends(self._app.settings.kafka, [prefix + topic for topic in sorted(topics)])
        return {topic: {place: end for place, end in found.items() if place[0] == prefix + topic} for topic in topics}
