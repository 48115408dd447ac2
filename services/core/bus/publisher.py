"""The one producer of a process: records go out with `acks=all`, and `publish` returns when all are acknowledged.

Invariant: records of one key reach their partition in the order they were given. A call that failed half-way may be
made again: consumers know an event by its id.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from contextlib import suppress

from aiokafka import AIOKafkaProducer
from aiokafka.errors import (
    BrokerResponseError,
    InvalidProducerEpoch,
    InvalidProducerIdMapping,
    KafkaError,
    OutOfOrderSequenceNumber,
    ProducerFenced,
    RecordTooLargeError,
    UnknownError,
    UnknownProducerId,
)

from services.core.bus.bell import Bell
from services.core.bus.broker_client import Brokers, client_arguments
from services.core.bus.broker_trouble import unreachable
from services.core.bus.delivery import Record
from services.core.errors import Permanent, Temporary

__all__ = ["LogRefused", "LogUnavailable", "Publisher", "Record", "TopicMissing"]

log = logging.getLogger(__name__)

LARGEST_RECORD = 1_000_000  # bytes; bodies and attachments travel by reference
ASK_S = 2.0  # how long a broker may take to name its topics

STOP_S = 10.0  # what a former producer has to send what it still holds

# The broker knows our producer's id as another one's, or no longer: its log was lost. A new producer gets a new id.
FORMER_PRODUCER = (
    InvalidProducerEpoch,
    InvalidProducerIdMapping,
    OutOfOrderSequenceNumber,
    ProducerFenced,
    UnknownProducerId,
)
REFUSALS = (BrokerResponseError, RecordTooLargeError)  # all else that the client raises is about itself

Outcome = Temporary | Permanent | None


class LogUnavailable(Temporary):
    """The log did not acknowledge records of some topics in time; they may or may not be on it."""

    topics: frozenset[str] = frozenset()


class LogRefused(Permanent):
    """The log refuses the records: too large, or a topic that it does not know or may not be written to."""


class ProducerForgotten(LogUnavailable):
    """The broker does not know our producer any more, or takes it for another one; a new one is made."""


class TopicMissing(LogUnavailable):
    """The broker answers and does not know the topic: it was deleted, or is not made yet."""


class Publisher:
    """Publishes to `brokers` ("host:port,host:port"); `idempotent` is off only for a broker that cannot."""

    def __init__(
        self,
        brokers: Brokers,
        *,
        idempotent: bool = True,
        timeout_s: float = 20,
        client_id: str = "",
        bell: Bell | None = None,
    ) -> None:
        self._brokers, self._idempotent, self._timeout_s = brokers, idempotent, timeout_s
        self._client_id = client_id or "correspondent"
        self._bell = bell or Bell()
        self._producer: AIOKafkaProducer | None = None
        self._renewing = asyncio.Lock()
        self._stopping: set[asyncio.Task[None]] = set()

    async def start(self) -> None:
        """Connect. Raises LogUnavailable when no broker answers in time."""
        self._producer = await self._connected()

    async def renew(self) -> None:
        """Go on with a new producer, which has a new id: the broker lost its log. Without effect when not started.

        Raises LogUnavailable when no broker answers in time; then all is as it was.
        """
        await self._replace(self._producer)

    async def _replace(self, former: AIOKafkaProducer | None) -> None:
        """Make a new producer in the place of `former`, once for all who ask; what that one holds is sent meanwhile."""
        async with self._renewing:
            if former is None or former is not self._producer:
                return
            made = await self._connected()
            if self._producer is not former:  # stopped meanwhile
                await made.stop()
                return
            self._producer = made
        stopping = asyncio.create_task(_stop(former), name="stop a former producer")
        self._stopping.add(stopping)
        stopping.add_done_callback(self._stopping.discard)

    async def _connected(self) -> AIOKafkaProducer:
        producer = AIOKafkaProducer(
            **client_arguments(self._brokers),
            client_id=self._client_id,
            acks="all",
            enable_idempotence=self._idempotent,
            max_request_size=LARGEST_RECORD,
            request_timeout_ms=int(self._timeout_s * 1000),
            linger_ms=0,
        )
        try:
            async with asyncio.timeout(self._timeout_s):
                await producer.start()
        except (KafkaError, OSError, TimeoutError) as error:
            await producer.stop()
            raise LogUnavailable(str(await unreachable(self._brokers))) from error
        return producer

    async def stop(self) -> None:
        """Send what is under way and disconnect; may be called twice."""
        producer, self._producer = self._producer, None
        if producer is not None:
            await producer.stop()
        if self._stopping:
            await asyncio.wait(self._stopping)

    async def answers(self) -> bool:
        """Whether a broker says which topics there are."""
        return self._producer is not None and bool(await self._producer.client.force_metadata_update())

    async def publish(self, records: Sequence[Record]) -> None:
        """Put the records on the log, in order; return when every one is acknowledged by all replicas in sync.

        The client retries by itself within the timeout. Raises LogUnavailable (try again) or LogRefused.
        """
        for outcome in await self.publish_each(records):
            if outcome is not None:
                raise outcome

    async def publish_each(self, records: Sequence[Record]) -> list[Outcome]:
        """Put each record on the log that it takes; for each, in order, None or what `publish` would raise for it.

        The records of one topic go out in their order, topics side by side: one that is missing holds up no other.
        """
        producer = self._producer
        if producer is None:
            return [LogUnavailable("the publisher is not started")] * len(records)
        topics: dict[str, list[Record]] = {}
        for record in records:
            topics.setdefault(record.topic, []).append(record)
        deadline = asyncio.get_running_loop().time() + self._timeout_s
        found = await asyncio.gather(*(_publish_to(producer, name, mine, deadline) for name, mine in topics.items()))
        if any(isinstance(one, ProducerForgotten) for of_topic in found for one in of_topic):
            with suppress(LogUnavailable):
                await self._replace(producer)
        if topics:
            self._bell.ring(topics.keys(), {topic: _types(mine) for topic, mine in topics.items()})
        outcomes = {name: iter(of_topic) for name, of_topic in zip(topics, found, strict=True)}
        return [next(outcomes[record.topic]) for record in records]


def _types(records: list[Record]) -> set[str]:
    """The types of events among them; "" where a record names none."""
    return {next((value.decode() for name, value in one.headers if name == "ce_type"), "") for one in records}


async def _stop(producer: AIOKafkaProducer) -> None:
    """Stop a producer that was replaced; what it cannot send in time is not acknowledged."""
    with suppress(KafkaError, OSError, TimeoutError):
        async with asyncio.timeout(STOP_S):
            await producer.stop()


async def _publish_to(producer: AIOKafkaProducer, topic: str, records: list[Record], deadline: float) -> list[Outcome]:
    """Send the records of one topic, in order; what follows one for which the log is away is not tried."""
    if producer.client.cluster.partitions_for_topic(topic) is None and await _is_missing(producer, topic):
        return [TopicMissing(f"the broker has no topic {topic}")] * len(records)
    sent: list[asyncio.Future[object] | Outcome] = []
    for record in records:
        away = sent and isinstance(sent[-1], LogUnavailable)
        sent.append(sent[-1] if away else await _send(producer, record, deadline))
    futures = [one for one in sent if isinstance(one, asyncio.Future)]
    if futures:
        await asyncio.wait(futures, timeout=max(0.0, deadline - asyncio.get_running_loop().time()))
    outcomes = [_outcome(one) if isinstance(one, asyncio.Future) else one for one in sent]
    if any(isinstance(one, LogUnavailable) for one in outcomes) and await _is_missing(producer, topic):
        missing = TopicMissing(f"the broker has no topic {topic}")
        return [missing if isinstance(one, LogUnavailable) else one for one in outcomes]
    return outcomes


async def _send(producer: AIOKafkaProducer, record: Record, deadline: float) -> asyncio.Future[object] | Outcome:
    """Hand a record to the client; the future of its acknowledgement, or why it does not take the record."""
    try:
        async with asyncio.timeout_at(deadline):
            future: asyncio.Future[object] = await producer.send(
                record.topic, record.value, key=record.key, headers=list(record.headers)
            )
            return future
    except (KafkaError, OSError, TimeoutError) as error:
        return named(error)


def _outcome(sent: asyncio.Future[object]) -> Outcome:
    """What became of a record once the time is over."""
    if not sent.done():
        sent.add_done_callback(lambda late: late.cancelled() or late.exception())
        return LogUnavailable("not acknowledged in time")
    if sent.cancelled():
        return LogUnavailable("the client stopped before it was acknowledged")
    error = sent.exception()
    return None if error is None else named(error)


async def _is_missing(producer: AIOKafkaProducer, topic: str) -> bool:
    """Whether a broker answers, and knows no such topic."""
    try:
        async with asyncio.timeout(ASK_S):
            cluster = await producer.client.fetch_all_metadata()
    except (KafkaError, OSError, TimeoutError):
        return False
    return topic not in cluster.topics()


def named(error: BaseException) -> Temporary | Permanent:
    """What a failure to publish is for the caller. An error that the broker itself cannot name may pass."""
    if isinstance(error, FORMER_PRODUCER):
        return ProducerForgotten(f"not acknowledged: {error!r}")
    if isinstance(error, REFUSALS) and not (error.retriable or isinstance(error, UnknownError)):
        return LogRefused(f"{type(error).__name__}: {error}")
    return LogUnavailable(f"not acknowledged: {error!r}")
