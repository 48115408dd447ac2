"""Topics as they should be, and how far each group has come. Works on Apache Kafka and on Tansu.

Tansu's `end_offsets` gives the last batch's base + 1, so ends are read as the high watermark after a fetch; its
OffsetFetch for "all partitions" cannot be decoded, so partitions are always named.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

from aiokafka import AIOKafkaConsumer, TopicPartition
from aiokafka.admin import AIOKafkaAdminClient, NewTopic
from aiokafka.errors import (
    GroupCoordinatorNotAvailableError,
    GroupLoadInProgressError,
    KafkaConnectionError,
    NotCoordinatorForGroupError,
    TopicAlreadyExistsError,
    for_code,
)
from aiokafka.structs import OffsetAndMetadata

from services.core.bus.broker_client import Brokers, client_arguments
from services.core.bus.broker_trouble import unreachable
from services.core.bus.delivery import Partition
from services.core.clock import LOOK_EVERY_S, until

COORDINATOR_TO_COME = (GroupCoordinatorNotAvailableError, GroupLoadInProgressError, NotCoordinatorForGroupError)
NAMED_S = 20.0  # how long a broker may take to name topics that it has created
FETCH_S = 20.0  # how long a broker may take to say where its partitions end


@dataclass(frozen=True, slots=True)
class TopicSpec:
    """One topic as it should be; `retention_ms` of -1 keeps records for ever, `cleanup` is delete or compact."""

    name: str
    partitions: int
    retention_ms: int = -1
    cleanup: str = "delete"


async def ensure_topics(brokers: Brokers, specs: Sequence[TopicSpec], *, replication: int = 1) -> None:
    """Create the topics that are missing; several processes may do so at once. Raises what the broker refuses.

    A broker that created a topic may not name it yet to who publishes: so we return when it does.
    """
    async with _admin(brokers) as admin:
        there = set(await admin.list_topics())
        missing = {spec.name: _new_topic(spec, replication) for spec in specs if spec.name not in there}
        if not missing:
            return
        answer = await admin.create_topics(list(missing.values()))
        for name, code, *_ in answer.topic_errors:
            if code not in (0, TopicAlreadyExistsError.errno):
                raise for_code(code)(f"topic {name} was not created")

        async def are_named() -> bool:
            return missing.keys() <= set(await admin.list_topics())

        async with asyncio.timeout(NAMED_S):
            await until(are_named, math.inf)


async def log_ends(brokers: Brokers, topics: Sequence[str]) -> dict[str, list[int]]:
    """Give where each partition of the topics ends, in one question; not for Tansu. Unknown topics are left out."""
    places = await _places(brokers, topics)
    if not places:
        return {}
    consumer = AIOKafkaConsumer(**client_arguments(brokers), enable_auto_commit=False)
    await consumer.start()
    try:
        found = await consumer.end_offsets(places)
    finally:
        await consumer.stop()
    return {topic: [found[one] for one in sorted(places) if one.topic == topic] for topic in {p.topic for p in places}}


async def ends(brokers: Brokers, topics: Sequence[str]) -> dict[Partition, int]:
    """Give the offset after the last record of each partition of the topics; a topic that is not there has none."""
    places = await _places(brokers, topics)
    if not places:
        return {}
    # Of an empty partition a broker answers when this wait is over, the embedded one when half of it is.
    consumer = AIOKafkaConsumer(**client_arguments(brokers), enable_auto_commit=False, fetch_max_wait_ms=100)
    await consumer.start()
    try:
        consumer.assign(places)
        await consumer.seek_to_beginning(*places)
        async with asyncio.timeout(FETCH_S):
            while unknown := [place for place in places if consumer.highwater(place) is None]:
                await consumer.getmany(*unknown, timeout_ms=200, max_records=1)
        return {(place.topic, place.partition): consumer.highwater(place) for place in places}
    finally:
        await consumer.stop()


async def committed(brokers: Brokers, group: str, partitions: Sequence[Partition]) -> dict[Partition, int]:
    """Give the offset of the next record that `group` will read, 0 where it has committed none."""
    return (await committed_by(brokers, {group: partitions}))[group]


async def committed_by(brokers: Brokers, wanted: Mapping[str, Sequence[Partition]]) -> dict[str, dict[Partition, int]]:
    """The same for several groups, each with its partitions, over one connection."""
    reached = {}
    async with _admin(brokers) as admin, asyncio.timeout(FETCH_S):
        for group, partitions in wanted.items():
            places = [TopicPartition(*partition) for partition in partitions]
            while (found := await _offsets(admin, group, places)) is None:  # noqa: ASYNC110 - {} is an answer
                await asyncio.sleep(LOOK_EVERY_S)
            reached[group] = {(place.topic, place.partition): max(at.offset, 0) for place, at in found.items()}
    return reached


async def lag(brokers: Brokers, group: str, topics: Sequence[str]) -> dict[Partition, int]:
    """Give how many records of each partition `group` has not committed."""
    lasts = await ends(brokers, topics)
    done = await committed(brokers, group, list(lasts))
    return {partition: max(end - done.get(partition, 0), 0) for partition, end in lasts.items()}


def _new_topic(spec: TopicSpec, replication: int) -> NewTopic:
    configs = {"retention.ms": str(spec.retention_ms), "cleanup.policy": spec.cleanup}
    return NewTopic(spec.name, spec.partitions, replication, topic_configs=configs)


async def _places(brokers: Brokers, topics: Sequence[str]) -> list[TopicPartition]:
    async with _admin(brokers) as admin:
        there = set(await admin.list_topics())
        known = [topic for topic in topics if topic in there]
        found = await admin.describe_topics(known) if known else []
    return [TopicPartition(one["topic"], n) for one in found for n in sorted(p["partition"] for p in one["partitions"])]


async def _offsets(
    admin: AIOKafkaAdminClient, group: str, places: list[TopicPartition]
) -> dict[TopicPartition, OffsetAndMetadata] | None:
    """What the group has committed; None while its coordinator is being chosen, as on a broker's first day."""
    try:
        found: dict[TopicPartition, OffsetAndMetadata] = await admin.list_consumer_group_offsets(
            group, partitions=places
        )
    except COORDINATOR_TO_COME:
        return None
    return found


@asynccontextmanager
async def _admin(brokers: Brokers) -> AsyncIterator[AIOKafkaAdminClient]:
    admin = AIOKafkaAdminClient(**client_arguments(brokers))
    try:
        await admin.start()
    except KafkaConnectionError:
        await admin.close()
        raise await unreachable(brokers) from None
    try:
        yield admin
    finally:
        await admin.close()
