"""A broker that is killed and comes back, under a consumer and a publisher that live on."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator

import pytest

from deploy.local import EmbeddedStack, running_endpoints
from services.core.bus.delivery import Record
from services.core.bus.publisher import LogUnavailable, Publisher
from services.core.bus.topics_admin import TopicSpec, ensure_topics
from tests.support.bus import PATIENCE_S, Desk, at_work, publishing, total_lag, until, until_true
from tests.support.stack import KAFKA, temporary_home, uses_apache_kafka

TOPIC = TopicSpec("turns", 12)


@pytest.fixture
def own_stack() -> Iterator[EmbeddedStack]:
    """A stack of this test's own, whose broker it may kill."""
    kind = "apache" if uses_apache_kafka() else os.environ.get(KAFKA, "embedded")
    with temporary_home(in_memory=True) as home:
        stack = EmbeddedStack(home, kafka=kind)
        with stack:
            yield stack


async def publish(publisher: Publisher, word: bytes) -> None:
    """Publish ten records as the runner would: again for as long as the log does not answer."""
    async with asyncio.timeout(PATIENCE_S):
        while True:
            try:
                return await publisher.publish([Record(TOPIC.name, b"%d" % n, word) for n in range(10)])
            except LogUnavailable:
                await asyncio.sleep(0.2)


@pytest.mark.slow
async def test_a_live_process_goes_on_when_its_broker_comes_back(own_stack: EmbeddedStack) -> None:
    """Apache Kafka needs nothing; one that forgot needs its topics, and then passes over nothing it is told anew.

    The second part is what `log_recovery` relies on: the group's old offsets must not outlive the broker that gave them, else
    what is published anew would lie behind them.
    """
    endpoints = running_endpoints(own_stack.home)
    assert endpoints is not None
    brokers = endpoints.kafka
    await ensure_topics(brokers, [TOPIC])
    desk = Desk(brokers, "group", [TOPIC.name])
    async with publishing(brokers, timeout_s=5) as publisher, at_work(desk):
        await publish(publisher, b"before")
        await until(lambda: desk.values.count(b"before") == 10)
        await until_true(lambda: caught_up(brokers))
        await asyncio.to_thread(own_stack.kill, "kafka")
        await asyncio.to_thread(own_stack.restart, "kafka")
        if not uses_apache_kafka():
            await ensure_topics(brokers, [TOPIC])
        await publish(publisher, b"after")
        await until(lambda: set(desk.values) == {b"before", b"after"} and desk.values.count(b"after") >= 10)
        await until_true(lambda: caught_up(brokers))
    assert desk.given_up == []
    assert {d.key for d in desk.handled if d.value == b"after"} == {b"%d" % n for n in range(10)}


async def caught_up(brokers: str) -> bool:
    return await total_lag(brokers, "group", TOPIC.name) == 0
