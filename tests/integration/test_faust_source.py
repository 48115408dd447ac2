"""The consumer on a real broker: order, poison, restart, slow handlers, several groups, a broker that is away."""

from __future__ import annotations

import asyncio
import logging
import threading
from contextlib import suppress
from typing import Any, cast

import pytest
from faust.types import TP

from deploy.local import Endpoints
from deploy.local.ports import free_port
from services.core.bus import faust_source
from services.core.bus.faust_consumer import LaneConsumer
from services.core.bus.topics_admin import TopicSpec, ensure_topics
from tests.support.bus import POISON, Desk, at_work, fill, total_lag, until
from tests.support.proxy import FaultProxy


async def test_all_is_done_in_order_and_a_restart_resumes_behind_it(stack: Endpoints, topic_prefix: str) -> None:
    """Poison is given up, each key keeps its order, and after a clean stop nothing is read twice."""
    topic, group = topic_prefix + "turns", topic_prefix + "group"
    await ensure_topics(stack.kafka, [TopicSpec(topic, 12)])
    values = [POISON if n % 25 == 7 else b"%d" % n for n in range(200)]
    await fill(stack.kafka, topic, values)
    first = Desk(stack.kafka, group, [topic])
    async with at_work(first):
        await until(lambda: len(first.handled) + len(first.given_up) >= 200)
    assert len(first.given_up) == 8
    for key in range(10):
        mine = [d.value for d in first.handled if d.key == b"%d" % key]
        assert mine == [v for n, v in enumerate(values) if n % 10 == key and v != POISON]
    assert await total_lag(stack.kafka, group, topic) == 0
    await fill(stack.kafka, topic, [b"again"] * 20)
    second = Desk(stack.kafka, group, [topic])
    async with at_work(second):
        await until(lambda: len(second.handled) >= 20)
    assert second.values == [b"again"] * 20


async def test_a_handler_slower_than_the_session_keeps_its_partitions(stack: Endpoints, topic_prefix: str) -> None:
    """A handler that outlasts the session timeout is neither disturbed nor repeated."""
    topic, group = topic_prefix + "turns", topic_prefix + "group"
    await ensure_topics(stack.kafka, [TopicSpec(topic, 12)])
    await fill(stack.kafka, topic, [b"slow"])
    desk = Desk(stack.kafka, group, [topic], handling_s=13)
    async with at_work(desk):
        await until(lambda: len(desk.handled) >= 1)
    assert len(desk.handled) == 1
    assert await total_lag(stack.kafka, group, topic) == 0


async def test_several_sources_share_a_process_and_each_group_reads_everything(
    stack: Endpoints, topic_prefix: str
) -> None:
    """Groups in one process and loop do not disturb each other, not even where one of them stops half-way."""
    topics = [topic_prefix + name for name in ("mails", "turns")]
    await ensure_topics(stack.kafka, [TopicSpec(topic, 12) for topic in topics])
    both = Desk(stack.kafka, topic_prefix + "both", topics)
    one = Desk(stack.kafka, topic_prefix + "one", topics[:1])
    leaving = Desk(stack.kafka, topic_prefix + "leaving", topics)
    async with at_work(both, one):
        async with at_work(leaving):
            for topic in topics:
                await fill(stack.kafka, topic, [b"first"] * 30)
            await until(lambda: (len(both.handled), len(one.handled), len(leaving.handled)) == (60, 30, 60))
        for topic in topics:
            await fill(stack.kafka, topic, [b"second"] * 30)
        await until(lambda: (len(both.handled), len(one.handled)) == (120, 60))
    assert len(leaving.handled) == 60
    assert await total_lag(stack.kafka, topic_prefix + "leaving", topics[0]) == 30


async def test_a_source_that_starts_before_its_broker_tries_until_it_answers(
    stack: Endpoints, topic_prefix: str, caplog: pytest.LogCaptureFixture
) -> None:
    """With nobody at the broker's address it says so, waits longer each time, and consumes once there is one."""
    topic, group = topic_prefix + "turns", topic_prefix + "group"
    await ensure_topics(stack.kafka, [TopicSpec(topic, 12)])
    await fill(stack.kafka, topic, [b"early"] * 10)
    host, port = stack.kafka.split(":")
    place = free_port()
    desk = Desk(f"{host}:{place}", group, [topic])
    with caplog.at_level(logging.WARNING, "services.core.bus.faust_source"):
        async with at_work(desk):
            await until(lambda: sum("starts again" in message for message in caplog.messages) >= 2)
            assert desk.handled == []
            async with FaultProxy(host, int(port), listen=place):
                await until(lambda: len(desk.handled) == 10)
                await desk.source.stop()
    pauses = [message.rsplit(" ", 2)[-2] for message in caplog.messages if "starts again" in message]
    assert pauses[:2] == ["0.5", "1.0"]


async def test_a_group_whose_topic_was_made_as_it_joined_was_left_without_it_for_good(
    stack: Endpoints, topic_prefix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The embedded broker gives a leader that joins again at once what it had before, which is nothing."""
    topic = topic_prefix + "turns"
    desk = Desk(stack.kafka, topic_prefix + "group", [topic])
    assigned = LaneConsumer.on_partitions_assigned

    async def made_meanwhile(consumer: LaneConsumer, partitions: set[TP], generation: int = 0) -> None:
        await ensure_topics(stack.kafka, [TopicSpec(topic, 12)])
        client: Any = consumer._thread._consumer
        await consumer._thread.call_thread(_look_at_topics, client._client)
        await assigned(consumer, partitions, generation)

    monkeypatch.setattr(LaneConsumer, "on_partitions_assigned", made_meanwhile)
    async with at_work(desk):
        await desk.source.ready
        await fill(stack.kafka, topic, [b"late"] * 24)
        await until(lambda: len(desk.handled) == 24)


async def test_a_source_goes_on_where_its_client_cancelled_what_waited_for_it(
    stack: Endpoints, topic_prefix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A thread that ends cancels the calls that it was asked; whoever waits for them is cancelled, but not the source."""
    topic = topic_prefix + "turns"
    await ensure_topics(stack.kafka, [TopicSpec(topic, 12)])
    desk = Desk(stack.kafka, topic_prefix + "group", [topic])
    _cancel_once(monkeypatch, "wait_until_stopped")
    _cancel_once(monkeypatch, "stop")
    async with at_work(desk):
        first = desk.source._app
        await until(lambda: desk.source._app is not first and desk.source.partitions == 12)
        await fill(stack.kafka, topic, [b"after"] * 24)
        await until(lambda: len(desk.handled) == 24)


async def test_an_app_that_does_not_stop_keeps_no_partitions(
    stack: Endpoints, topic_prefix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its thread is ended: the app that follows is the only member of the group, and reads every partition."""
    topic, group = topic_prefix + "turns", topic_prefix + "group"
    await ensure_topics(stack.kafka, [TopicSpec(topic, 12)])
    monkeypatch.setattr(faust_source, "STOP_S", 0.5)
    desk = Desk(stack.kafka, group, [topic])
    async with at_work(desk):
        await until(lambda: desk.source.assigned)
        first = desk.source._app
        assert first is not None
        client = cast(LaneConsumer, first.consumer)._thread._ensure_consumer()
        monkeypatch.setattr(client._coordinator, "close", lambda: asyncio.Event().wait())
        first._crash(RuntimeError("a fault"))
        await until(lambda: desk.source._app is not first and desk.source.partitions == 12)
        await fill(stack.kafka, topic, [b"after"] * 24)
        await until(lambda: len(desk.handled) == 24)
        worker = cast(LaneConsumer, first.consumer)._thread._thread
        assert worker is not None
        await until(lambda: not worker.is_alive())


async def test_the_whole_process_stood_still_until_the_thread_of_a_consumer_had_ended(
    stack: Endpoints, topic_prefix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A client's task that goes on although it was cancelled holds up no other consumer of the process."""
    topic, other = topic_prefix + "turns", topic_prefix + "calls"
    await ensure_topics(stack.kafka, [TopicSpec(topic, 12), TopicSpec(other, 12)])
    monkeypatch.setattr(faust_source, "STOP_S", 0.5)
    monkeypatch.setattr(faust_source, "MOST_HANGING_STEPS", 2)
    stuck, free = Desk(stack.kafka, topic_prefix + "stuck", [topic]), Desk(stack.kafka, topic_prefix + "free", [other])
    let_go = threading.Event()

    async def deaf() -> None:
        for _ in range(400):  # not for ever: what waits for it must come to its assertion
            if let_go.is_set():
                return
            with suppress(asyncio.CancelledError):
                await asyncio.sleep(0.05)

    async with at_work(stuck), at_work(free):
        await until(lambda: stuck.source.assigned and free.source.assigned)
        first = stuck.source._app
        assert first is not None
        thread = cast(LaneConsumer, first.consumer)._thread
        asyncio.run_coroutine_threadsafe(deaf(), thread.thread_loop)
        first._crash(RuntimeError("a fault"))
        await until(lambda: stuck.source._app is not first)  # the thread was left behind
        await fill(stack.kafka, other, [b"meanwhile"] * 24)
        await until(lambda: len(free.handled) == 24)
        worker = thread._thread
        assert worker is not None
        assert worker.is_alive()
        let_go.set()
        await until(lambda: not worker.is_alive())


def _cancel_once(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Have the next call of this method of a Faust app end as cancelled; `stop` has done its work by then."""
    method = getattr(faust_source._App, name)

    async def cancelled(app: faust_source._App) -> None:
        monkeypatch.setattr(faust_source._App, name, method)
        if name == "stop":
            await app.stop()
        raise asyncio.CancelledError

    monkeypatch.setattr(faust_source._App, name, cancelled)


async def test_a_source_without_a_broker_stops_at_once() -> None:
    """A process that was started in vain can be ended."""
    desk = Desk(f"127.0.0.1:{free_port()}", "group", ["topic"])
    await desk.source.start()
    await asyncio.sleep(0.2)
    async with asyncio.timeout(30):
        await desk.source.stop()


async def _look_at_topics(client: Any) -> None:
    await client.force_metadata_update()
