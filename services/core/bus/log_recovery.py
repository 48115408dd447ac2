"""Publishes again what a broker lost: topic by topic, what some consumer has not done.

Every broker may lose its log: a volume that was not mounted, a topic that was deleted, a restored snapshot. The
embedded one is empty after each of its starts. The events are in Postgres, and the journal says who has done which.

Invariants
- What is lost is noted before anything is published again, with a new generation of the topic: a crash begins the pass
  once more, and consumers no longer trust earlier offsets (`log_generations`).
- Nothing is published again that every consumer has done; what comes twice is known by its id.
- A last pass follows a while later. Until a process hears of the loss its idempotent producer may use an id that the
  broker has given to another one, and records that look like that one's are acknowledged and thrown away. The embedded
  broker loses one of two records that come at once to a partition which is quite new.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from uuid import NAMESPACE_OID, uuid5

import structlog
from aiokafka.client import AIOKafkaClient

from services.core.app import App
from services.core.bus.broker_client import client_arguments
from services.core.bus.log_identity import LogIdentity, log_identity
from services.core.bus.log_losses import Ends, KnownTopic, ends_gone_back, lost_topics, pairs_of
from services.core.bus.outbox_relay import refill_counted
from services.core.bus.topics_admin import TopicSpec, ensure_topics, log_ends
from services.core.clock import monotonic, pause
from services.core.db import fetch_all, queries
from services.core.db.locks import HeldElsewhere

log = structlog.get_logger(__name__)

SQL = queries(__file__, "log_topics.sql")
LOCK = uuid5(NAMESPACE_OID, "correspondent: recovery of the log")
LOOK_EVERY_S = 2.0
ENDS_EVERY_S = 30.0
PASSES = 2
LAST_PASS_S = 20.0  # longer than a process needs to hear of a loss
CONFIRM_S = 3.0  # a new leader may be behind for a moment: ends that went back are read twice


class LogKeeper:
    """Looks at the log of one deployment. `topics` are all that it has; `consumers` the (topic, processor) pairs."""

    def __init__(self, app: App, topics: Sequence[TopicSpec], consumers: Sequence[tuple[str, str]]) -> None:
        self._app, self._topics, self._consumers = app, {one.name: one for one in topics}, list(consumers)
        self._client: AIOKafkaClient | None = None
        self._at_rest: LogIdentity | None = None  # what the log was when a look had nothing to do
        self._ends_at = 0.0

    async def look(self) -> list[str]:
        """Publish again what topics lost since the last look, by any process; their names.

        Raises what the broker's client and the database raise; the next look begins where this one ended.
        """
        try:
            if await self._is_as_it_was():
                return []
            async with self._app.locks.hold(LOCK):
                return await self._look()
        except HeldElsewhere:
            return []
        except Exception:
            await self.close()
            raise

    async def keep(self, stop: asyncio.Event) -> None:
        """`look` until `stop` is set; a broker or database that does not answer is asked again."""
        while not stop.is_set():
            try:
                await self.look()
            except Exception as error:
                log.warning("the log could not be looked at, will try again", error=repr(error))
            await pause(stop, LOOK_EVERY_S)

    async def close(self) -> None:
        """Disconnect; the next look connects again."""
        client, self._client = self._client, None
        if client is not None:
            await client.close()

    async def _is_as_it_was(self) -> bool:
        """Whether the log is the one that had lost nothing, as the broker alone can tell."""
        return self._at_rest is not None and not self._ends_are_due() and await self._identity() == self._at_rest

    def _ends_are_due(self) -> bool:
        return not self._app.settings.kafka.embedded and monotonic() - self._ends_at > ENDS_EVERY_S

    async def _look(self) -> list[str]:
        seen = await self._identity()
        known = await self._known()
        if any(name not in seen.topics for name in known):
            await asyncio.sleep(CONFIRM_S / 3)  # one of several brokers may not have heard of a new topic yet
            seen = await self._identity()
        missing = [name for name in self._topics if name not in seen.topics]
        if missing:
            specs = [self._topics[name] for name in missing]
            await ensure_topics(self._app.settings.kafka, specs, replication=self._app.settings.kafka.replication)
            seen = await self._identity()
        lost = lost_topics(self._topics, known, seen, missing)
        lost |= await self._lost_before_we_looked(known, seen, missing)
        if self._ends_are_due():
            lost |= await self._gone_back(known, seen, set(lost))
            self._ends_at = monotonic()
        await self._note(lost, known, seen)
        due = [*lost, *(name for name, one in known.items() if one.due and name not in lost)]
        if due:
            await self._publish_again(due)
        at_rest = not missing and not due and not any(one.unfinished for one in known.values())
        self._at_rest = seen if at_rest else None
        return due

    async def _identity(self) -> LogIdentity:
        if self._client is None:
            self._client = AIOKafkaClient(**client_arguments(self._app.settings.kafka))
            await self._client.bootstrap()
        return await log_identity(self._client)

    async def _known(self) -> dict[str, KnownTopic]:
        async with self._app.database.reading() as conn:
            rows = await fetch_all(conn, SQL.known, {"names": list(self._topics)})
        return {row.pop("name"): KnownTopic(**row) for row in rows}

    async def _lost_before_we_looked(
        self, known: Mapping[str, KnownTopic], seen: LogIdentity, missing: Sequence[str]
    ) -> dict[str, str]:
        """Topics of which nothing is known yet, and that hold nothing: they may have held something once."""
        new = [name for name in self._topics if name in seen.topics and name not in known]
        if self._app.settings.kafka.embedded or not new:
            return dict.fromkeys(new, "a broker that forgets")
        ends = await log_ends(self._app.settings.kafka, new)
        return {name: "an empty topic" for name in new if name in missing or not any(ends.get(name, ()))}

    async def _gone_back(self, known: Mapping[str, KnownTopic], seen: LogIdentity, lost: set[str]) -> dict[str, str]:
        """Topics that lost their latest records; where the others end is noted."""
        names = [name for name in known if name in seen.topics and name not in lost]
        found = await log_ends(self._app.settings.kafka, names)
        back = ends_gone_back(known, found)
        if back:
            await asyncio.sleep(CONFIRM_S)
            found = await log_ends(self._app.settings.kafka, names)
            back = ends_gone_back(known, found)
        await self._note_ends({name: ends for name, ends in found.items() if name not in back}, known, seen)
        return back

    async def _note_ends(self, ends: Mapping[str, Ends], known: Mapping[str, KnownTopic], seen: LogIdentity) -> None:
        changed = [
            {"name": name, "ends": list(now), "id": seen.topics[name]}
            for name, now in ends.items()
            if list(now) != list(known[name].ends)
        ]
        if changed:
            async with self._app.database.transaction() as conn, conn.cursor() as cursor:
                await cursor.executemany(SQL.note_ends, changed)

    async def _note(self, lost: Mapping[str, str], known: Mapping[str, KnownTopic], seen: LogIdentity) -> None:
        """Write down what was lost, in one transaction, and the topics that are there for the first time."""
        rows = [
            {"name": name, "cluster": seen.cluster, "id": seen.topics.get(name, ""), "passes": PASSES, "reason": reason}
            for name, reason in lost.items()
        ]
        new = [
            {"name": name, "cluster": seen.cluster, "id": seen.topics[name]}
            for name in self._topics
            if name not in lost and seen.topics.get(name) is not None and _is_news(known.get(name), seen.topics[name])
        ]
        if not rows and not new:
            return
        async with self._app.database.transaction() as conn, conn.cursor() as cursor:
            await cursor.executemany(SQL.note_lost, rows)
            await cursor.execute(SQL.forget_held, {"names": list(lost)})
            await cursor.executemany(SQL.note, new)
            await cursor.execute(SQL.announce)
        surprising = {name: reason for name, reason in lost.items() if name in known}
        if surprising and not self._app.settings.kafka.embedded:
            reasons = sorted(set(surprising.values()))
            log.error("the broker lost records, publishing them again", topics=sorted(surprising), reasons=reasons)

    async def _publish_again(self, names: Sequence[str]) -> None:
        pairs = pairs_of(names, self._consumers, self._app.settings.kafka.topic_prefix)
        counts = await refill_counted(self._app, pairs) if pairs else Counter[str]()
        prefix, count = self._app.settings.kafka.topic_prefix, counts.total()
        passed = [
            {"name": name, "count": counts[name.removeprefix(prefix)], "pause_s": LAST_PASS_S} for name in sorted(names)
        ]
        async with self._app.database.transaction() as conn, conn.cursor() as cursor:
            await cursor.executemany(SQL.note_pass, passed)
        say = log.info if count else log.debug
        say("published again what the log did not have", topics=len(names), events=count)


def _is_news(known: KnownTopic | None, id: str) -> bool:
    """Whether a topic that lost nothing has to be noted."""
    return known is None or (not known.topic_id and bool(id))


@asynccontextmanager
async def opened(
    app: App, topics: Sequence[TopicSpec], consumers: Sequence[tuple[str, str]]
) -> AsyncIterator[LogKeeper]:
    """A `LogKeeper` whose connection to the broker is closed at the end."""
    keeper = LogKeeper(app, topics, consumers)
    try:
        yield keeper
    finally:
        await keeper.close()
