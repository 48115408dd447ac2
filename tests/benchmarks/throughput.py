"""10,000 mails at once, a model that answers in 0 ms, every processor in one process: mails a second, against the floor.

The floor, in the same run: as many mails through the same number of Kafka hops, each with a commit of one insert, and one
SMTP hand-over, with no logic in between; as many at once as a processor's lanes run.
"""

from __future__ import annotations

import asyncio
import os
import sys
import time
from collections.abc import Sequence

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer

from services.core.app import App
from services.core.bus.topics_admin import TopicSpec, ensure_topics
from services.core.db import fetch_one
from services.receive_email.accept import accept
from tests.benchmarks.latency import HOPS, hand_over
from tests.benchmarks.measured import Measured
from tests.benchmarks.recall_support import Options, run
from tests.benchmarks.stage import bench_app
from tests.support.letters import letter

TARGET = 0.5
PATIENCE_S = 3600.0
SENT = "SELECT count(*) AS n FROM deliveries WHERE state = 'sent'"


async def post(app: App, numbers: range, domain: str) -> None:
    """A mail of each of so many new people of a domain."""
    for number in numbers:
        raw = letter(
            f"What does it cost for {number} people?",
            sender=f"P <p{number}@{domain}>",
            message_id=f"<{number}@{domain}>",
            subject=f"q{number}",
        )
        await accept(app, app.settings.inboxes[0], raw, source="file", source_key=str(number))


async def through_the_app(app: App, mails: int) -> float:
    """Mails a second, from the first one's append until every reply has been accepted."""
    began = time.monotonic()
    await post(app, range(mails), "throughput.example")
    async with asyncio.timeout(PATIENCE_S):
        while await _sent(app) < mails:
            await asyncio.sleep(0.1)
    return mails / (time.monotonic() - began)


async def floor(app: App, mails: int) -> float:
    """Mails a second through the same hops, commits and hand-overs without logic."""
    brokers = app.settings.kafka.brokers
    topics = [f"bare{hop}" for hop in range(HOPS)]
    await ensure_topics(brokers, [TopicSpec(topic, 12) for topic in topics])
    async with app.database.transaction() as conn:
        await conn.execute("CREATE TABLE IF NOT EXISTS floor_rows (n int)")
    producer = AIOKafkaProducer(bootstrap_servers=brokers, acks="all", enable_idempotence=False)
    consumers = [AIOKafkaConsumer(topic, bootstrap_servers=brokers, fetch_max_wait_ms=50) for topic in topics]
    await asyncio.gather(*(client.start() for client in (producer, *consumers)))
    began = time.monotonic()
    async with asyncio.TaskGroup() as group:
        for consumer, onward in zip(consumers, [*topics[1:], ""], strict=True):
            group.create_task(_hop(app, consumer, producer, onward, mails))
        for number in range(mails):
            await _commit(app, number)
            await producer.send_and_wait(topics[0], b"x" * 2000, key=str(number).encode())
    seconds = time.monotonic() - began
    await asyncio.gather(*(client.stop() for client in (producer, *consumers)))
    return mails / seconds


async def _hop(app: App, consumer: AIOKafkaConsumer, producer: AIOKafkaProducer, onward: str, mails: int) -> None:
    """Take every mail, commit, and pass it on; the last hop hands it over."""
    room = asyncio.Semaphore(app.settings.lanes.running)

    async def one(key: bytes) -> None:
        async with room:
            await _commit(app, int(key))
            await (producer.send_and_wait(onward, b"x" * 2000, key=key) if onward else hand_over(app))

    async with asyncio.TaskGroup() as group:
        for _ in range(mails):
            group.create_task(one((await consumer.getone()).key))


async def _commit(app: App, number: int) -> None:
    async with app.database.transaction() as conn:
        await conn.execute("INSERT INTO floor_rows VALUES (%(n)s)", {"n": number})


async def _sent(app: App) -> int:
    async with app.database.reading() as conn:
        row = await fetch_one(conn, SENT)
    return int(row["n"]) if row else 0


async def measure(*, quick: bool) -> Sequence[Measured]:
    """The rate as a share of the floor's."""
    mails = int(os.environ.get("MAILS", "200" if quick else "10000"))
    async with bench_app() as app:
        base = await floor(app, mails)
        ours = await through_the_app(app, mails)
    sides = {"mails_s": ours, "floor_mails_s": base}
    return [
        Measured("throughput / floor", ours / base, "x", TARGET, ours / base >= TARGET, mails, sides),
        Measured("throughput", ours, "mails/s", n=mails),
    ]


def benchmark(options: Options) -> Sequence[Measured]:
    """The benchmark as it is run from the command line."""
    return asyncio.run(measure(quick=options.quick))


if __name__ == "__main__":
    sys.exit(run("throughput", benchmark))
