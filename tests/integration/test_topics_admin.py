"""Topics as they should be, ends, lag and resets, on a real broker."""

from __future__ import annotations

import asyncio

import pytest
from aiokafka.admin import AIOKafkaAdminClient
from aiokafka.admin.config_resource import ConfigResource, ConfigResourceType
from aiokafka.errors import KafkaError

from deploy.local import Endpoints
from services.core.bus.delivery import Record
from services.core.bus.publisher import LogUnavailable
from services.core.bus.topics_admin import TopicSpec, committed, ends, ensure_topics, lag
from tests.support.bus import Desk, at_work, fill, publishing, until
from tests.support.groups import reset_group
from tests.support.stack import uses_apache_kafka


async def test_topics_are_made_once_however_often_and_by_however_many(stack: Endpoints, topic_prefix: str) -> None:
    """Processes that start together all succeed, and a later start leaves a topic and its records as they are."""
    specs = [TopicSpec(f"{topic_prefix}{name}", 12) for name in ("mails", "turns", "timers")]
    await asyncio.gather(*(ensure_topics(stack.kafka, specs) for _ in range(6)))
    await fill(stack.kafka, specs[1].name, [b"kept"] * 7)
    await ensure_topics(stack.kafka, [TopicSpec(specs[1].name, 3), *specs])
    found = await ends(stack.kafka, [spec.name for spec in specs])
    assert sorted(found) == sorted((spec.name, n) for spec in specs for n in range(12))
    assert sum(found.values()) == 7


async def test_a_topic_that_the_broker_refuses_is_an_error_that_names_it(stack: Endpoints) -> None:
    """A name that Kafka does not allow stops the start in words."""
    if not uses_apache_kafka():
        pytest.skip("the embedded broker allows every name")
    with pytest.raises(KafkaError, match="no/such name"):
        await ensure_topics(stack.kafka, [TopicSpec("no/such name", 1)])


async def test_ends_count_records_exactly_also_where_there_are_none(stack: Endpoints, topic_prefix: str) -> None:
    """The end is the offset after the last record; empty partitions end at 0, unknown topics have no partitions."""
    topic, empty = topic_prefix + "turns", topic_prefix + "empty"
    await ensure_topics(stack.kafka, [TopicSpec(topic, 4), TopicSpec(empty, 2)])
    await fill(stack.kafka, topic, [b"%d" % n for n in range(33)])
    await fill(stack.kafka, topic, [b"more"])
    found = await ends(stack.kafka, [topic, empty, topic_prefix + "unknown"])
    assert sum(end for (name, _), end in found.items() if name == topic) == 34
    assert {place: end for place, end in found.items() if place[0] != topic} == {(empty, 0): 0, (empty, 1): 0}
    assert await ends(stack.kafka, [topic_prefix + "unknown"]) == {}


async def test_lag_is_what_a_group_has_not_committed(stack: Endpoints, topic_prefix: str) -> None:
    """A group that never read lags by all, one that read everything by nothing."""
    topic, group = topic_prefix + "turns", topic_prefix + "group"
    await ensure_topics(stack.kafka, [TopicSpec(topic, 4)])
    await fill(stack.kafka, topic, [b"%d" % n for n in range(20)], keys=20)
    assert await lag(stack.kafka, group, [topic]) == await ends(stack.kafka, [topic])
    desk = Desk(stack.kafka, group, [topic])
    async with at_work(desk):
        await until(lambda: len(desk.handled) == 20)
    assert sum((await lag(stack.kafka, group, [topic])).values()) == 0


async def test_a_group_that_was_reset_reads_from_there(stack: Endpoints, topic_prefix: str) -> None:
    """Offsets set for a group without members are where it reads on: one record of each partition again."""
    topic, group = topic_prefix + "turns", topic_prefix + "group"
    await ensure_topics(stack.kafka, [TopicSpec(topic, 4)])
    await fill(stack.kafka, topic, [b"%d" % n for n in range(20)], keys=20)
    if uses_apache_kafka():
        desk = Desk(stack.kafka, group, [topic])
        async with at_work(desk):
            await until(lambda: len(desk.handled) == 20)
    at_end = await ends(stack.kafka, [topic])
    await reset_group(stack.kafka, group, {place: max(end - 1, 0) for place, end in at_end.items()})
    assert await committed(stack.kafka, group, [(topic, 0)]) == {(topic, 0): max(at_end[topic, 0] - 1, 0)}
    behind = await lag(stack.kafka, group, [topic])
    assert behind == {place: min(end, 1) for place, end in at_end.items()}
    again = Desk(stack.kafka, group, [topic])
    async with at_work(again):
        await until(lambda: len(again.handled) == sum(behind.values()))
    assert {(d.partition, d.offset) for d in again.handled} == {(n, end - 1) for (_, n), end in at_end.items() if end}


async def test_topics_keep_their_records_as_long_as_they_should(stack: Endpoints, topic_prefix: str) -> None:
    """Apache Kafka reports the retention and clean-up that the topic was made with."""
    if not uses_apache_kafka():
        pytest.skip("the embedded broker keeps no configuration")
    spec = TopicSpec(topic_prefix + "turns", 2, retention_ms=86_400_000, cleanup="compact")
    await ensure_topics(stack.kafka, [spec, TopicSpec(topic_prefix + "kept", 2)])
    assert await config(stack.kafka, spec.name) == ("86400000", "compact")
    assert await config(stack.kafka, topic_prefix + "kept") == ("-1", "delete")


async def config(brokers: str, topic: str) -> tuple[str, str]:
    """(retention.ms, cleanup.policy) as the broker has them."""
    admin = AIOKafkaAdminClient(bootstrap_servers=brokers)
    await admin.start()
    try:
        [answer] = await admin.describe_configs([ConfigResource(ConfigResourceType.TOPIC, topic)])
    finally:
        await admin.close()
    entries = {entry[0]: entry[1] for entry in answer.resources[0][4]}
    return entries["retention.ms"], entries["cleanup.policy"]


async def test_whoever_asked_for_a_topic_first_had_it_made_with_too_few_partitions(
    stack: Endpoints, topic_prefix: str
) -> None:
    """Asking for a topic makes none: publishing to it is refused for now, and it is made as it should be."""
    topic = TopicSpec(topic_prefix + "turns", 12)
    async with publishing(stack.kafka, timeout_s=2) as publisher:
        with pytest.raises(LogUnavailable):
            await publisher.publish([Record(topic.name, b"key", b"too early")])
        await ensure_topics(stack.kafka, [topic])
        await publisher.publish([Record(topic.name, b"key", b"in time")])
    assert len(await ends(stack.kafka, [topic.name])) == 12
