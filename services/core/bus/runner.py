"""Runs one processor: decode, handle once, publish what was stored, and only then acknowledge.

`process` is the whole of rule 4: the journal (processed-events table) makes a second delivery harmless, and what a
crash left unpublished is published by the next delivery (or by the outbox relay).
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Hashable, Sequence
from dataclasses import replace
from datetime import UTC
from typing import Any
from uuid import UUID

import structlog

from schemas.events.replies import MemoryLoaded, ReplyDrafted
from schemas.topics import catalogue
from services.core.app import App
from services.core.bus import event_store
from services.core.bus.codec import Undecodable, decode, encode, header, record_of, said_by
from services.core.bus.dead_letters import LONGEST_MESSAGE, make_dead_letter, without_content
from services.core.bus.delivery import Delivery, Record
from services.core.bus.envelope import Envelope
from services.core.bus.event_row import EventRow, OutboxEvent
from services.core.bus.held_records import hold, is_known, is_mine
from services.core.bus.outbox import RefusedEvent, mark_published, publish_stored
from services.core.bus.processor import Processor, refuse_replay
from services.core.bus.publisher import LogRefused, LogUnavailable
from services.core.bus.recent import Recent
from services.core.bus.retry import classify, is_database_away
from services.core.bus.sealing import key_id, opened
from services.core.bus.slots import decided
from services.core.bus.undone_events import pairs_of
from services.core.bus.work import AlreadyDone, Work
from services.core.db import Connection, Database, fetch_one, row_as, sealed_rows_as
from services.core.errors import DatabaseAway
from services.core.keys import Erased, ErasedMeanwhile
from services.core.keys.aead import KEY, SEALED, seal_json
from services.core.keys.keyring import Begun

log = structlog.get_logger(__name__)

NEXT_OF_A_TURN = frozenset({MemoryLoaded.TYPE, ReplyDrafted.TYPE})  # without which its turn cannot go on


class _NothingToTell(Exception):
    """The processor has no event for this; its journal row is taken back, so that a redrive finds it undone."""


class Runner:
    """One processor in one process."""

    def __init__(self, processor: Processor, app: App) -> None:
        self._processor = processor
        self._app = app
        self._prefix = app.settings.kafka.topic_prefix
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

    def skips(self, delivery: Delivery) -> bool:
        """Whether the processor has no handler for the delivery, by its headers alone: nothing is decoded or unsealed.

        What carries a replay's mark is handled, and refused.
        """
        kind = self._not_ours(delivery)
        return bool(kind) and is_known(kind)

    def _not_ours(self, delivery: Delivery) -> str:
        """The type that the headers name, where the processor has no handler for it; else ""."""
        kind = header(delivery, "ce_type")
        if not kind or header(delivery, "ce_replay") or is_mine(self._processor, kind):
            return ""
        return kind

    async def handle(self, delivery: Delivery) -> None:
        """Do one record; returns when everything it caused is on the log. Safe to call again at any time.

        What the processor has no handler for is skipped by its headers, and leaves no row in the journal: nobody waits
        for it. A type that this version does not know is skipped and journaled, since a newer version may wait for it,
        and so is what can no longer be read because somebody whom it is about was erased. Raises `Held` where a newer
        version wrote what is the processor's own, and `ReplayRefused` where the record carries a replay's mark: no
        replay belongs on a log that others read. While Postgres is away it raises `DatabaseAway`: such a record is
        late, and at no fault.
        """
        database = self._app.database
        answered, cut_off = database.answered, database.cut_off
        try:
            await self._read_and_process(delivery)
        except asyncio.CancelledError as error:  # its time is over, all of which may have passed in asking Postgres
            if database.answered > answered or database.cut_off == cut_off:
                raise
            raise _away(database, "it answers nothing") from error
        except Exception as error:
            if not is_database_away(error):
                raise
            raise _away(database, repr(error)) from error

    async def _read_and_process(self, delivery: Delivery) -> None:
        if kind := self._not_ours(delivery):
            if not is_known(kind):
                await self._skip(delivery)
            return
        try:
            envelope = await read(self._app, delivery)
        except Erased:
            log.info("skipped, erased", topic=delivery.topic, offset=delivery.offset)
            await self._skip(delivery)
            return
        except Undecodable as error:
            if header(delivery, "ce_type"):
                await hold(self._app, self._processor, delivery, error)
            raise
        refuse_replay(envelope)
        await self.process(envelope)

    async def process(self, envelope: Envelope) -> None:
        """Do one event. Raises what the handler raises; then nothing has changed."""
        structlog.contextvars.bind_contextvars(
            processor=self._processor.name, event=str(envelope.id), key=envelope.key, trace=envelope.traceparent
        )
        if self._done.knows(envelope.id):
            return
        if type(envelope.data) not in self._processor.handlers:
            return
        work = self._work(envelope)
        await self._handle(work)
        # Only now: an event that is known as done before it is would be acknowledged, and lost with this process.
        self._done.add(envelope.id, *work.done_here)

    async def _handle(self, work: Work[Any]) -> None:
        """Do it, unless it was done before; then publish what was stored because of it, now or by whoever did it.

        What this attempt stored is published from memory. The table is asked where something may stand there that this
        attempt does not know: the event was done before, or an attempt before left something behind.
        """
        try:
            # Who decides in one unit need not ask: the unit's own journal row conflicts, and raises `AlreadyDone`.
            if self._processor.at_once or not await work.done_before():
                await self._do(work)
                decided()
                if not work.left_behind:
                    refused = await publish(self._app, work.stored, wait_for_topic=True)
                    await self._fail_turn_of(work.envelope, refused)
                    return
        except AlreadyDone:
            log.info("already done", type=work.envelope.type)
        except Erased:
            if not await self._is_gone(work.envelope):
                raise
            await work.pass_over()
        # What another attempt stored may not be on disk yet, and nothing is published that a crash could take back.
        if self._processor.background:
            await self._app.group_commit.on_disk()
        await self._publish_stored(work.envelope)

    async def give_up(self, delivery: Delivery, error: BaseException, attempts: int) -> None:
        """Say that an event could not be handled: as its processor says it, else a dead letter, bytes untouched.

        Where it was handled, and only the log would not take what came of it, that is left to the outbox relay. Raises
        what passes by itself, such as a database that is away: an event that is fine is no dead letter for that. What
        the event itself makes fail here, its processor included, ends in a dead letter, too: else it would never end.
        """
        done, envelope = False, None
        try:
            envelope = await read(self._app, delivery)
            done = not envelope.replay and await self._work(envelope).done_before()
        except Exception as trouble:  # a record that cannot be read is given up unread
            if classify(trouble) != "permanent":
                raise
        if envelope is not None and done:
            await self._leave_to_relay(envelope)
            return
        log.error("gave up", error=repr(error), attempts=attempts, topic=delivery.topic, offset=delivery.offset)
        if envelope is None or envelope.replay or not await self._told(envelope, error):
            said = await self._sealed(envelope, error) if envelope else ""
            now = self._app.now()
            dead_letter = make_dead_letter(
                delivery, group=self.group, error=error, attempts=attempts, at=now, said=said
            )
            await self._keep(dead_letter)
            self._app.metrics.dead_letter(self._processor.name)
            return
        await self._publish_stored(envelope)

    async def _keep(self, dead_letter: Record) -> None:
        """The dead letter on the log; where the log takes no such record, that there is one."""
        try:
            await self._app.publisher.publish([dead_letter])
        except LogRefused as refused:
            log.error("a dead letter is kept without its content", topic=dead_letter.topic, error=str(refused))
            await self._app.publisher.publish([without_content(dead_letter)])

    async def _sealed(self, envelope: Envelope, error: BaseException) -> str:
        """The error's words under the event's key, "" where it has none: they may repeat what the event holds."""
        id = key_id(envelope)
        key = (await self._app.keys.find([id])).get(id) if id else None
        message = {"message": str(error)[:LONGEST_MESSAGE]}
        return json.dumps(seal_json(key, {}, message, of=str(envelope.id))) if key else ""

    async def _skip(self, delivery: Delivery) -> None:
        """The journal says that this consumer has nothing more to do for the record."""
        id, at = said_by(delivery)
        if self._done.knows(id):
            return
        await self._app.group_commit.pass_over(self._processor.name, id, at.astimezone(UTC).date())
        self._done.add(id)

    async def _is_gone(self, envelope: Envelope) -> bool:
        """Whether the event's own people were erased since it was read."""
        id = key_id(envelope)
        self._app.keys.forget(id)  # the cache may still hold the key that an erase has destroyed since
        return id is not None and id not in await self._app.keys.find([id])

    def _work(self, envelope: Envelope) -> Work[Any]:
        one = self._processor
        return Work(envelope.data, envelope, one.name, self._app.as_it_is(), one.appliers, background=one.background)

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
        except Exception as trouble:
            if classify(trouble) != "permanent":
                raise
            log.error("what becomes of the event could not be recorded", type=envelope.type, error=repr(trouble))
            return False
        return True

    async def _publish_stored(self, cause: Envelope, *, wait_for_topic: bool = True) -> None:
        args = {"cause": cause.id, "source": self._processor.name}
        async with self._app.database.reading() as conn:
            rows = await sealed_rows_as(conn, OutboxEvent.of, event_store.SQL.unpublished_of, args)
        refused = [RefusedEvent(row.id, row.type, row.refusal) for row in rows if row.refusal is not None]
        left = await unerased(self._app, [row for row in rows if row.refusal is None])
        refused += await publish_rows(self._app, left, wait_for_topic=wait_for_topic)
        await self._fail_turn_of(cause, refused)

    async def _leave_to_relay(self, cause: Envelope) -> None:
        try:
            await self._publish_stored(cause, wait_for_topic=False)
        except LogUnavailable as error:
            log.warning("left to the outbox relay", cause=str(cause.id), error=str(error))

    async def _fail_turn_of(self, cause: Envelope, refused: Sequence[RefusedEvent]) -> None:
        """Record that the turn failed which cannot go on because the broker refuses its next event.

        A unit of its own, since the refused events are stored and done. What the outbox relay publishes later, once
        the broker takes it, meets a closed turn.
        """
        lost = next((one for one in refused if one.type in NEXT_OF_A_TURN), None)
        if lost is None or self._processor.give_up is None:
            return
        error = LogRefused(f"the broker refuses {lost.type}: {lost.error}")
        work = self._work(cause)
        async with work.unit("refused", final=False, done=True) as unit:
            await self._processor.give_up(unit, error)
        await publish(self._app, work.stored)


def _away(database: Database, why: str) -> DatabaseAway:
    away = DatabaseAway(f"Postgres is away: {why}")
    away.answered = database.answered
    return away


async def read(app: App, delivery: Delivery) -> Envelope:
    """The event of a record. Raises `Undecodable`, or `Erased` where neither the record nor the history can be read.

    The history is asked too, because a key may have been changed since the record was published.
    """
    try:
        clear, sealed = await opened(app.keys, delivery)
    except Erased:
        async with app.database.reading() as conn:
            row = await row_as(conn, EventRow.of, event_store.SQL.by_id, {"id": said_by(delivery)[0]})
        if row is None:
            raise
        return replace(row.envelope(), replay=header(delivery, "ce_replay"))
    return replace(decode(clear), sealed=sealed)


async def unerased(app: App, rows: Sequence[EventRow]) -> list[EventRow]:
    """Rows as they are stored, without those that nobody can read any more: these are skipped by every consumer.

    A sandbox of a replay has no keys, and seals nothing.
    """
    if app.database.keys is None:
        return list(rows)
    keys = {row.id: UUID(row.data[KEY]) for row in rows if row.is_sealed and row.data[SEALED]}
    known = await app.keys.find(keys.values())
    erased = [row.id for row in rows if row.is_sealed and keys.get(row.id) not in known]
    if erased:
        log.info("not published, erased", events=len(erased))
        await _pass_over_everywhere(app, erased)
        await mark_published(app, erased)
    gone = set(erased)
    return [row for row in rows if row.id not in gone]


async def publish(app: App, envelopes: Sequence[Envelope], *, wait_for_topic: bool = False) -> list[RefusedEvent]:
    """Put stored events on the log; see `outbox.publish_stored`."""
    prefix = app.settings.kafka.topic_prefix
    stored = [(one.id, one.type, encode(one, topic_prefix=prefix)) for one in envelopes]
    return await publish_stored(app, stored, wait_for_topic=wait_for_topic)


async def publish_rows(app: App, rows: Sequence[EventRow], *, wait_for_topic: bool = False) -> list[RefusedEvent]:
    """Put stored rows on the log, whatever their types and fields are; see `outbox.publish_stored`."""
    prefix = app.settings.kafka.topic_prefix
    stored = [(row.id, row.type, record_of(row, topic_prefix=prefix)) for row in rows]
    return await publish_stored(app, stored, wait_for_topic=wait_for_topic)


async def enter(app: App, envelope: Envelope, check: Callable[[Connection], Awaitable[None]] | None = None) -> None:
    """An edge's event comes in: stored, then published. The same id again is the event stored first.

    `check` runs in the transaction, when the keys of whom the event is about are held: an erase of them has ended, or
    waits for it. Where it raises, nothing is stored, nor of a thread or a person that an erase has taken: whoever
    asks has read it before. Raises `Erased` for that.
    """
    try:
        stored = await _enter(app, envelope, check)
    except ErasedMeanwhile:  # others go on in the thread: from here on it is theirs
        stored = await _enter(app, envelope, check)
    if stored.unpublished:
        await publish(app, [stored.envelope()])


async def _enter(app: App, envelope: Envelope, check: Callable[[Connection], Awaitable[None]] | None) -> OutboxEvent:
    thread = envelope.data.shared_in()
    async with app.database.transaction(envelope.workspace) as conn:
        met = await fetch_one(conn, event_store.SQL.erasures_of, {"thread": thread}) if thread else None
        await event_store.store(conn, [envelope], begun=Begun(thread, met["erasures"]) if met else None)
        if check is not None:
            await check(conn)
        if await event_store.is_gone(conn, envelope.workspace, envelope.data):
            raise Erased
        stored = await row_as(conn, OutboxEvent.of, event_store.SQL.by_id, {"id": envelope.id})
    assert stored is not None
    return stored


async def _pass_over_everywhere(app: App, ids: list[UUID]) -> None:
    """No consumer will be given these events, so that none could say that it has done them."""
    args = pairs_of(catalogue().consumers()).args()
    async with app.database.reading() as conn:
        await conn.execute(event_store.SQL.pass_over_everywhere, {**args, "ids": ids})
