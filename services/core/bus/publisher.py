"""The one producer of a process: records go out with `acks=all`, and `publish` returns when all are acknowledged.

Invariant: records of one key reach their partition in the order they were given. A call that failed half-way may be
made again: consumers know an event by its id.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence

from aiokafka import AIOKafkaProducer
from aiokafka.errors import KafkaError, UnknownError

from services.core.bus.delivery import Record
from services.core.errors import Permanent, Temporary

__all__ = ["LogRefused", "LogUnavailable", "Publisher", "Record"]

log = logging.getLogger(__name__)

LARGEST_RECORD = 1_000_000  # bytes; bodies and attachments travel by reference


class LogUnavailable(Temporary):
    """The log did not acknowledge the records in time; they may or may not be on it."""


class LogRefused(Permanent):
    """The log refuses the records: too large, or a topic that it does not know or may not be written to."""


class Publisher:
    """Publishes to `brokers` ("host:port,host:port"); `idempotent` is off only for a broker that cannot."""

    def __init__(self, brokers: str, *, idempotent: bool = True, timeout_s: float = 20, client_id: str = "") -> None:
        self._brokers, self._idempotent, self._timeout_s = brokers, idempotent, timeout_s
        self._client_id = client_id or "correspondent"
        self._producer: AIOKafkaProducer | None = None

    async def start(self) -> None:
        """Connect. Raises LogUnavailable when no broker answers in time."""
        producer = AIOKafkaProducer(
            bootstrap_servers=self._brokers,
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
            raise LogUnavailable(f"no broker of {self._brokers} answered: {error!r}") from error
        self._producer = producer

    async def stop(self) -> None:
        """Send what is under way and disconnect; may be called twice."""
        producer, self._producer = self._producer, None
        if producer is not None:
            await producer.stop()

    async def publish(self, records: Sequence[Record]) -> None:
        """Put the records on the log, in order; return when every one is acknowledged by all replicas in sync.

        The client retries by itself within the timeout. Raises LogUnavailable (try again) or LogRefused.
        """
        if self._producer is None:
            raise LogUnavailable("the publisher is not started")
        try:
            async with asyncio.timeout(self._timeout_s):
                await self._send(self._producer, records)
        except (KafkaError, OSError, TimeoutError) as error:
            raise named(error) from error

    async def _send(self, producer: AIOKafkaProducer, records: Sequence[Record]) -> None:
        pending = []
        for record in records:
            pending.append(
                await producer.send(record.topic, record.value, key=record.key, headers=list(record.headers))
            )
        await asyncio.gather(*pending)


def named(error: BaseException) -> Temporary | Permanent:
    """What a failure to publish is for the caller. An error that the broker itself cannot name may pass."""
    if isinstance(error, KafkaError) and not (error.retriable or isinstance(error, UnknownError)):
        return LogRefused(f"{type(error).__name__}: {error}")
    return LogUnavailable(f"not acknowledged: {error!r}")
