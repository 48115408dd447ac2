"""Runs one processor: decode, handle once, publish what was stored, and only then acknowledge.

`process` is the whole of rule 4: the journal makes a second delivery harmless, and what a crash left
unpublished is published by the next delivery (or by the sweeper).
"""

from __future__ import annotations

import json
from collections.abc import Hashable, Sequence
from dataclasses import replace
from datetime import UTC
from typing import Any
from uuid import UUID

import structlog

from schemas.topics import catalogue
from services.core.bus import history
from services.core.bus.codec import decode, encode, header, said_by
from services.core.bus.dead_letters import LONGEST_MESSAGE, make_dead_letter
from services.core.bus.delivery import Delivery
from services.core.bus.envelope import Envelope
from services.core.bus.processor import Processor
from services.core.bus.recent import Recent
from services.core.bus.replays import refuse_replay
from services.core.bus.retry import classify
from services.core.bus.sealing import key_id, opened
from services.core.bus.unit import Row
from services.core.bus.work import AlreadyDone, Work
from services.core.db import fetch_all, fetch_one
from services.core.house import House
from services.core.keys import Erased, is_sealed
from services.core.keys.aead import seal_json

log = structlog.get_logger(__name__)


class _NothingToTell(Exception):
    """The processor has no event for this; its journal row is taken back, so that a redrive finds it undone."""


class Runner:
    """One processor in one process."""

    def __init__(self, processor: Processor, house: House) -> None:
        self._processor = processor
        self._house = house
        self._prefix = house.settings.kafka.topic_prefix
        self._done = Recent()

    @property
    def group(self) -> str:
        """The consumer group."""
        return self._prefix + self._processor.name

    def lane_of(self, delivery: Delivery) -> Hashable:
        """What the delivery is ordered by in this group: its key, or the participant whom it is about."""
        if self._processor.lane == "subject":
            return next((value for name, value in delivery.headers if name == "ce_datasubject"), delivery.key)
        return delivery.key

    async def handle(self, delivery: Delivery) -> None:
        """Do one record; returns when everything it caused is on the log. Safe to call again at any time.

        What can no longer be read, because somebody whom it is about was erased, is passed over and counts as done.
        Raises `ReplayRefused` where the record carries a replay's mark: no replay belongs on a log that others read.
        """
        try:
            envelope = await read(self._house, delivery)
        except Erased:
            await self._pass_over(delivery)
            return
        refuse_replay(envelope)
        await self.process(envelope)

    async def process(self, envelope: Envelope) -> None:
        """Do one event. Raises what the handler raises; then nothing has changed."""
        structlog.contextvars.bind_contextvars(
            processor=self._processor.name, event=str(envelope.id), key=envelope.key, trace=envelope.traceparent
        )
        if self._done.knows(envelope.id):
            return
        work = self._work(envelope)
        if type(envelope.data) not in self._processor.handlers:
            await work.pass_over()
        else:
            await self._handle(work)
        self._done.add(envelope.id, *work.settled)

    async def _handle(self, work: Work[Any]) -> None:
        """Do it, unless it was done before; then publish what was stored because of it, now or by whoever did it."""
        try:
            if self._processor.at_once or not await work.done_before():
                await self._do(work)
                if self._processor.at_once:
                    await publish(self._house, work.stored)
                    return
        except AlreadyDone:
            log.info("already done", type=work.envelope.type)
        except Erased:
            if not await self._is_gone(work.envelope):
                raise
            await work.pass_over()
        await self._publish_stored(work.envelope)

    async def give_up(self, delivery: Delivery, error: BaseException, attempts: int) -> None:
        """Say that an event could not be handled: as its processor says it, else a dead letter, bytes untouched.

        Raises what passes by itself, such as a database that is away: an event that is fine is no dead letter for that.
        """
        try:
            envelope = await read(self._house, delivery)
        except Exception as trouble:
            if classify(trouble) == "temporary":
                raise
            envelope = None
        log.error("gave up", error=repr(error), attempts=attempts, topic=delivery.topic, offset=delivery.offset)
        if envelope is None or envelope.replay or not await self._told(envelope, error):
            said = await self._sealed(envelope, error) if envelope else ""
            now = self._house.now()
            letter = make_dead_letter(delivery, group=self.group, error=error, attempts=attempts, at=now, said=said)
            await self._house.publisher.publish([letter])
            return
        await self._publish_stored(envelope)

    async def _sealed(self, envelope: Envelope, error: BaseException) -> str:
        """The error's words under the event's key, "" where it has none: they may repeat what the event holds."""
        id = key_id(envelope)
        key = (await self._house.keys.find([id])).get(id) if id else None
        message = {"message": str(error)[:LONGEST_MESSAGE]}
        return json.dumps(seal_json(key, {}, message, of=str(envelope.id))) if key else ""

    async def _pass_over(self, delivery: Delivery) -> None:
        log.info("passed over, erased", topic=delivery.topic, offset=delivery.offset)
        id, at = said_by(delivery)
        async with self._house.database.reading() as conn:
            row = {"consumer": self._processor.name, "event_id": id, "event_day": at.astimezone(UTC).date()}
            await conn.execute(history.SQL.mark_done, row)

    async def _is_gone(self, envelope: Envelope) -> bool:
        """Whether the event's own people were erased since it was read."""
        id = key_id(envelope)
        self._house.keys.forget(id)
        return id is not None and id not in await self._house.keys.find([id])

    def _work(self, envelope: Envelope) -> Work[Any]:
        one = self._processor
        return Work(envelope.data, envelope, one.name, self._house, one.appliers, one.passes_over)

    async def _do(self, work: Work[Any]) -> None:
        await self._processor.handlers[type(work.event)](work)
        if not work.journaled:
            await work.pass_over()

    async def _told(self, envelope: Envelope, error: BaseException) -> bool:
        """Let the processor record what becomes of an event that it could not handle; False where it cannot say."""
        if self._processor.give_up is None:
            return False
        work = self._work(envelope)
        try:
            async with work.unit("gave-up") as unit:
                if not await self._processor.give_up(unit, error):
                    raise _NothingToTell
        except AlreadyDone:
            log.info("already done", type=envelope.type)
        except _NothingToTell:
            return False
        return True

    async def _publish_stored(self, cause: Envelope) -> None:
        args = {"cause": cause.id, "source": self._processor.name}
        async with self._house.database.reading() as conn:
            rows = await fetch_all(conn, history.SQL.unpublished_of, args)
        await publish(self._house, await readable(self._house, rows))


async def read(house: House, delivery: Delivery) -> Envelope:
    """The event of a record. Raises `Undecodable`, or `Erased` where neither the record nor the history can be read.

    The history is asked too, because a key may have been changed since the record was published.
    """
    try:
        clear, sealed = await opened(house.keys, delivery)
    except Erased:
        async with house.database.reading() as conn:
            row = await fetch_one(conn, history.SQL.by_id, {"id": said_by(delivery)[0]})
        if row is None:
            raise
        return replace(history.envelope(row), replay=header(delivery, "ce_replay"))
    return replace(decode(clear), sealed=sealed)


async def readable(house: House, rows: Sequence[Row]) -> list[Envelope]:
    """The envelopes of stored rows without those that nobody can read any more: these are passed over by everybody."""
    erased = [row["id"] for row in rows if is_sealed(row["data"])]
    if erased:
        log.info("not published, erased", events=len(erased))
        await _pass_over_everywhere(house, erased)
        await _mark_published(house, erased)
    return [history.envelope(row) for row in rows if not is_sealed(row["data"])]


async def publish(house: House, envelopes: Sequence[Envelope]) -> None:
    """Put stored events on the log, then mark them published."""
    if not envelopes:
        return
    prefix = house.settings.kafka.topic_prefix
    await house.publisher.publish([encode(one, topic_prefix=prefix) for one in envelopes])
    await _mark_published(house, [one.id for one in envelopes])


async def enter(house: House, envelope: Envelope) -> None:
    """An edge's event comes into the house: stored, then published. The same id again is the event stored first."""
    async with house.database.transaction(envelope.workspace) as conn:
        await history.store(conn, [envelope])
        stored = await fetch_one(conn, history.SQL.by_id, {"id": envelope.id})
    assert stored is not None
    if stored["published_at"] is None:
        await publish(house, [history.envelope(stored)])


async def _pass_over_everywhere(house: House, ids: list[UUID]) -> None:
    """No consumer will be given these events, so that none could say that it has done them."""
    pairs = [(topic.name, consumer) for topic in catalogue().topics.values() for consumer in topic.consumers]
    args = {"ids": ids, "topics": [topic for topic, _ in pairs], "consumers": [consumer for _, consumer in pairs]}
    async with house.database.reading() as conn:
        await conn.execute(history.SQL.pass_over_everywhere, args)


async def _mark_published(house: House, ids: list[UUID]) -> None:
    async with house.database.reading() as conn:
        await conn.execute(history.SQL.mark_published, {"ids": ids})
