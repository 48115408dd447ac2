"""The producer on a real broker: order, refusals, and a log that does not answer."""

from __future__ import annotations

import asyncio

import pytest

from deploy.local import Endpoints
from deploy.local.ports import free_port
from services.core.bus.delivery import Record
from services.core.bus.publisher import LARGEST_RECORD, LogRefused, LogUnavailable, Publisher
from services.core.bus.topics_admin import TopicSpec, ends, ensure_topics
from tests.support.bus import Desk, at_work, publishing, until
from tests.support.stack import uses_apache_kafka


@pytest.fixture
async def topic(stack: Endpoints, topic_prefix: str) -> str:
    """A topic of this test's own."""
    await ensure_topics(stack.kafka, [TopicSpec(topic_prefix + "turns", 4)])
    return topic_prefix + "turns"


async def on_the_log(brokers: str, topic: str) -> int:
    return sum((await ends(brokers, [topic])).values())


async def test_what_is_published_is_on_the_log_whole_and_in_order(stack: Endpoints, topic: str) -> None:
    """Keys, values, headers and tombstones arrive byte for byte, each key in the order it was given."""
    headers = (("ce_id", b"1"), ("ce_id", b"again"), ("odd", b"\x00\xff"))
    records = [Record(topic, b"key-%d" % (n % 3), b"%d" % n, headers) for n in range(60)]
    records.append(Record(topic, b"key-0", None))
    async with publishing(stack.kafka) as publisher:
        await publisher.publish(records)
        assert await on_the_log(stack.kafka, topic) == 61
    desk = Desk(stack.kafka, topic + "-group", [topic])
    async with at_work(desk):
        await until(lambda: len(desk.handled) == 61)
    for key in (b"key-0", b"key-1", b"key-2"):
        mine = [(d.value, d.headers) for d in desk.handled if d.key == key]
        assert mine == [(r.value, r.headers) for r in records if r.key == key]
    assert {len({d.partition for d in desk.handled if d.key == key}) for key in (b"key-0", b"key-1")} == {1}


async def test_callers_side_by_side_keep_the_order_of_their_own_keys(stack: Endpoints, topic: str) -> None:
    """Many lanes publish through one producer, each its own key."""

    async def lane(publisher: Publisher, key: bytes) -> None:
        for n in range(10):
            await publisher.publish([Record(topic, key, b"%d" % n)])

    async with publishing(stack.kafka) as publisher:
        await asyncio.gather(*(lane(publisher, b"%d" % key) for key in range(20)))
    desk = Desk(stack.kafka, topic + "-group", [topic])
    async with at_work(desk):
        await until(lambda: len(desk.handled) == 200)
    for key in range(20):
        assert [d.value for d in desk.handled if d.key == b"%d" % key] == [b"%d" % n for n in range(10)]


async def test_a_record_that_is_too_large_is_refused_and_the_producer_lives_on(stack: Endpoints, topic: str) -> None:
    """The same record would be refused again, so it is no temporary error; others still pass."""
    async with publishing(stack.kafka) as publisher:
        with pytest.raises(LogRefused, match="MessageSizeTooLarge"):
            await publisher.publish([Record(topic, b"k", b"x" * (LARGEST_RECORD + 1))])
        await publisher.publish([Record(topic, b"k", b"small")])
    assert await on_the_log(stack.kafka, topic) == 1


async def test_nothing_to_publish_needs_no_log(stack: Endpoints) -> None:
    """No records are published at once."""
    async with publishing(stack.kafka) as publisher:
        await publisher.publish([])


async def test_a_topic_that_is_not_there_is_no_success(stack: Endpoints, topic_prefix: str) -> None:
    """A record for an unknown topic is an error and no silent loss."""
    async with publishing(stack.kafka, timeout_s=2) as publisher:
        with pytest.raises((LogUnavailable, LogRefused)):
            await publisher.publish([Record(topic_prefix + "nowhere", b"k", b"v")])


async def test_nobody_at_the_address_is_said_with_the_address() -> None:
    """Where no broker answers the start fails in time, as a temporary error."""
    address = f"127.0.0.1:{free_port()}"
    with pytest.raises(LogUnavailable, match=address):
        await Publisher(address, timeout_s=1).start()


async def test_a_publisher_that_is_not_started_or_stopped_says_so(stack: Endpoints, topic: str) -> None:
    """Before `start` and after `stop` there is an error, and `stop` may come twice."""
    publisher = Publisher(stack.kafka, idempotent=uses_apache_kafka())
    for _ in range(2):
        with pytest.raises(LogUnavailable, match="not started"):
            await publisher.publish([Record(topic, b"k", b"v")])
        await publisher.start()
        await publisher.stop()
        await publisher.stop()
