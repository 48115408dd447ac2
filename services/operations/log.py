"""Reads topics as they lie, outside any group: nothing is committed, and no consumer is disturbed.

Where retention has deleted what an offset points at, reading begins at the oldest record there is.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

from aiokafka import AIOKafkaConsumer, TopicPartition

from services.core.bus.broker_client import Brokers, client_arguments
from services.core.bus.delivery import Delivery, Partition
from services.core.bus.publisher import LogUnavailable

PATIENCE_S = 20.0  # how long a broker may be silent although there are records to read
POLL_MS = 300

Offsets = Mapping[Partition, int]


async def read(brokers: Brokers, starts: Offsets, stops: Offsets) -> AsyncIterator[Delivery]:
    """Give every record of each partition from its start (0 by default) up to its stop. Raises LogUnavailable."""
    wanted = {place: starts.get(place, 0) for place, stop in stops.items() if starts.get(place, 0) < stop}
    if not wanted:
        return
    async with _reader(brokers, wanted) as consumer:
        left = {TopicPartition(*place) for place in wanted}
        while left:
            batch = await _some(consumer, left)
            if not batch:
                return
            for found in batch:
                if found.offset < stops[found.source]:
                    yield found
            left = {place for place in left if await consumer.position(place) < stops[place.topic, place.partition]}


async def heads(brokers: Brokers, starts: Offsets) -> dict[Partition, Delivery]:
    """Give the first record at or after each offset, where there is one. Raises LogUnavailable."""
    found: dict[Partition, Delivery] = {}
    if not starts:
        return found
    async with _reader(brokers, starts) as consumer:
        while left := {TopicPartition(*place) for place in starts if place not in found}:
            batch = await _some(consumer, left, most=len(left))
            if not batch:
                break
            for delivery in batch:
                found.setdefault(delivery.source, delivery)
            consumer.pause(*(TopicPartition(*place) for place in found))
    return found


async def follow(brokers: Brokers, starts: Offsets) -> AsyncIterator[Delivery]:
    """Give every record from the starts on, and those to come, for ever."""
    async with _reader(brokers, starts) as consumer:
        while True:
            for batch in (await consumer.getmany(timeout_ms=POLL_MS)).values():
                for message in batch:
                    yield _delivery(message)


async def _some(consumer: AIOKafkaConsumer, places: set[TopicPartition], *, most: int = 500) -> list[Delivery]:
    try:
        async with asyncio.timeout(PATIENCE_S):
            while not (batches := await consumer.getmany(*places, timeout_ms=POLL_MS, max_records=most)):
                if not [place for place in places if await _is_behind(consumer, place)]:
                    return []
    except TimeoutError:
        raise LogUnavailable(f"the broker gave no records for {PATIENCE_S:g} s") from None
    return [_delivery(message) for batch in batches.values() for message in batch]


async def _is_behind(consumer: AIOKafkaConsumer, place: TopicPartition) -> bool:
    end = consumer.highwater(place)
    return end is None or await consumer.position(place) < end


def _delivery(message: object) -> Delivery:
    """A Delivery of an aiokafka ConsumerRecord."""
    fields = ("topic", "partition", "offset", "key", "value", "headers", "timestamp")
    topic, partition, offset, key, value, headers, timestamp = (getattr(message, name) for name in fields)
    return Delivery(topic, partition, offset, key, value, tuple(headers), timestamp)


@asynccontextmanager
async def _reader(brokers: Brokers, starts: Offsets) -> AsyncIterator[AIOKafkaConsumer]:
    consumer = AIOKafkaConsumer(**client_arguments(brokers), enable_auto_commit=False, auto_offset_reset="earliest")
    await consumer.start()
    try:
        consumer.assign([TopicPartition(*place) for place in starts])
        for place, offset in starts.items():
            consumer.seek(TopicPartition(*place), offset)
        yield consumer
    finally:
        await consumer.stop()
