"""The consumer on a real broker: order, poison, restart, slow handlers."""

from deploy.local import Endpoints
from services.core.bus.publisher import Publisher, Record
from services.core.bus.topics_admin import TopicSpec, ensure_topics, lag
from tests.support.bus import Desk, until


async def fill(brokers: str, topic: str, values: list[bytes]) -> None:
    publisher = Publisher(brokers, idempotent=False)
    await publisher.start()
    await publisher.publish([Record(topic, b"%d" % (n % 10), value) for n, value in enumerate(values)])
    await publisher.stop()


async def test_all_is_done_in_order_and_a_restart_resumes_behind_it(stack: Endpoints, topic_prefix: str) -> None:
    """Poison is given up, each key keeps its order, and after a clean stop nothing is read twice."""
    topic, group = topic_prefix + "turns", topic_prefix + "group"
    await ensure_topics(stack.kafka, [TopicSpec(topic, 12)])
    values = [b"poison" if n % 25 == 7 else b"%d" % n for n in range(200)]
    await fill(stack.kafka, topic, values)
    first = Desk(stack.kafka, group, [topic])
    await first.source.start()
    await until(lambda: len(first.handled) + len(first.given_up) >= 200)
    await first.source.stop()
    assert len(first.given_up) == 8
    for key in range(10):
        mine = [d.value for d in first.handled if d.key == b"%d" % key]
        assert mine == [v for n, v in enumerate(values) if n % 10 == key and v != b"poison"]
    assert sum((await lag(stack.kafka, group, [topic])).values()) == 0
    await fill(stack.kafka, topic, [b"again"] * 20)
    second = Desk(stack.kafka, group, [topic])
    await second.source.start()
    await until(lambda: len(second.handled) >= 20)
    await second.source.stop()
    assert [d.value for d in second.handled] == [b"again"] * 20


async def test_a_handler_slower_than_the_session_keeps_its_partitions(stack: Endpoints, topic_prefix: str) -> None:
    """A handler that outlasts the session timeout is neither disturbed nor repeated."""
    topic, group = topic_prefix + "turns", topic_prefix + "group"
    await ensure_topics(stack.kafka, [TopicSpec(topic, 12)])
    await fill(stack.kafka, topic, [b"slow"])
    desk = Desk(stack.kafka, group, [topic], handling_s=9)
    await desk.source.start()
    await until(lambda: len(desk.handled) >= 1)
    await desk.source.stop()
    assert len(desk.handled) == 1
    assert sum((await lag(stack.kafka, group, [topic])).values()) == 0
