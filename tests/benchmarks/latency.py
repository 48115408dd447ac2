"""One mail at a time, a model that answers in 0 ms: from the append of a mail to the server's acceptance of its reply.

Each mail waits until all that follows from the one before is done; "back to back" is without that wait, where learning from
the mails before is part of what is waited for. The floor, in the same run: the same number of Kafka hops and commits with
one insert each, and one SMTP hand-over, with no logic in between; its consumers let the broker hold a fetch for as long
as ours do. With what each mail cost, in CPU, WAL and waits for the disk. See `outside` for who keeps the clock.
"""

from __future__ import annotations

import asyncio
import statistics
import sys
import time
from email.message import EmailMessage

import aiosmtplib
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer

from services.core.app import App
from services.core.bus.fetch_pace import FetchPace
from services.core.bus.group import EMBEDDED_PACE
from services.core.bus.topics_admin import TopicSpec, ensure_topics
from tests.benchmarks.measured import Measured, at_most
from tests.benchmarks.outside import Outside, deployed
from tests.benchmarks.recall_support import Options, run

HOPS = 6  # raw, read, turn, memory, draft, approved
WARM_UP = 5  # mails before the clock counts
TARGETS = (("p50", 0.5, 2.0), ("p99", 0.99, 4.0))


async def one_at_a_time(seen: Outside, rounds: int) -> list[float]:
    """Seconds from each mail's append to the acceptance of its reply, each after all of the one before is done."""
    times = []
    for _ in range(rounds):
        since = await seen.newest()
        times += await seen.answered(1)
        await seen.settled(since)
    return times


async def back_to_back(seen: Outside, rounds: int) -> list[float]:
    """The same, where each mail comes as soon as the one before has its reply."""
    since = await seen.newest()
    times = [(await seen.answered(1))[0] for _ in range(rounds)]
    await seen.settled(since)
    return times


def bare_producer(app: App) -> AIOKafkaProducer:
    """A producer without logic, as careful as ours."""
    kafka = app.settings.kafka
    return AIOKafkaProducer(bootstrap_servers=kafka.brokers, acks="all", enable_idempotence=not kafka.embedded)


def bare_consumer(app: App, topic: str) -> AIOKafkaConsumer:
    """A consumer without logic, whose fetches the broker holds as it holds ours."""
    kafka = app.settings.kafka
    pace = EMBEDDED_PACE if kafka.embedded else FetchPace()
    wait_ms = round(1000 * pace.wait_s)
    return AIOKafkaConsumer(
        topic, bootstrap_servers=kafka.brokers, fetch_max_wait_ms=wait_ms, auto_offset_reset="earliest"
    )


async def floor(app: App, rounds: int) -> list[float]:
    """Seconds of the same hops, commits and hand-over without logic."""
    brokers = app.settings.kafka.brokers
    topics = [f"floor{hop}" for hop in range(HOPS)]
    await ensure_topics(brokers, [TopicSpec(topic, 12) for topic in topics])
    producer = bare_producer(app)
    consumers = [bare_consumer(app, topic) for topic in topics]
    await producer.start()
    for consumer in consumers:
        await consumer.start()
    times = []
    async with app.database.transaction() as conn:
        await conn.execute("CREATE TABLE IF NOT EXISTS floor_rows (n int)")
    for number in range(rounds):
        began = time.monotonic()
        for topic, consumer in zip(topics, consumers, strict=True):
            async with app.database.transaction() as conn:
                await conn.execute("INSERT INTO floor_rows VALUES (%(n)s)", {"n": number})
            await producer.send_and_wait(topic, b"x" * 2000, key=str(number).encode())
            await consumer.getone()
        await hand_over(app)
        times.append(time.monotonic() - began)
    for client in (producer, *consumers):
        await client.stop()
    return times


async def hand_over(app: App) -> None:
    """One SMTP dialogue."""
    mail = EmailMessage()
    mail["From"], mail["To"], mail["Subject"] = "a@floor.example", "b@floor.example", "floor"
    mail.set_content("floor")
    await aiosmtplib.send(mail, hostname=app.settings.smtp.host, port=app.settings.smtp.port)


async def measure(*, quick: bool) -> list[Measured]:
    """p50 and p99 as multiples of the floor's, one at a time and back to back, and what a mail cost."""
    rounds = 20 if quick else 200
    async with deployed() as seen:
        await one_at_a_time(seen, WARM_UP)
        base = await floor(seen.app, rounds)
        before = await seen.spent()
        ours = await one_at_a_time(seen, rounds)
        spent = (await seen.spent()).since(before, rounds)
        busy = await back_to_back(seen, rounds)
    lines = []
    for name, share, target in TARGETS:
        sides = {"ours_s": quantile(ours, share), "floor_s": quantile(base, share)}
        ratio = sides["ours_s"] / sides["floor_s"]
        lines.append(at_most(f"latency {name} / floor", ratio, "x", target, rounds, sides))
    for name, share, _ in TARGETS:
        lines.append(Measured(f"back to back: {name}", quantile(busy, share), "s", n=rounds))
    lines += [Measured(f"one at a time: {name} a mail", value, "", n=rounds) for name, value in spent.items()]
    return lines


def quantile(values: list[float], share: float) -> float:
    """The value below which this share of `values` lies."""
    return statistics.quantiles(values, n=100, method="inclusive")[round(share * 100) - 1]


def benchmark(options: Options) -> list[Measured]:
    """The benchmark as it is run from the command line."""
    return asyncio.run(measure(quick=options.quick))


if __name__ == "__main__":
    sys.exit(run("latency", benchmark))
