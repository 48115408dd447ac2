"""One mail at a time, a model that answers in 0 ms, the embedded stack: raw append to SMTP accepted.

The floor, in the same run: the same number of Kafka hops and commits with one insert each, and one SMTP
hand-over, with no logic in between.
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
from services.core.bus.topics_admin import TopicSpec, ensure_topics
from services.core.db import fetch_one
from services.receive_email.accept import accept
from tests.benchmarks.measured import Measured, at_most
from tests.benchmarks.recall_support import Options, run
from tests.benchmarks.stage import bench_app
from tests.support.letters import letter

HOPS = 6  # raw, read, turn, memory, draft, approved
WARM_UP = 5  # mails before the clock counts


async def through_the_app(app: App, rounds: int, *, first: int) -> list[float]:
    """Seconds from the append of each mail to the server's acceptance of its reply."""
    times = []
    for number in range(first, first + rounds):
        address = f"p{number}@latency.example"
        raw = letter(
            "What does it cost?",
            sender=f"P <{address}>",
            message_id=f"<{number}@latency.example>",
            subject=f"q{number}",
        )
        began = time.monotonic()
        await accept(app, app.settings.inboxes[0], raw, source="file", source_key=str(number))
        while True:
            async with app.database.reading() as conn:
                sent = await fetch_one(
                    conn, "SELECT 1 AS one FROM deliveries WHERE recipient = %(a)s AND state = 'sent'", {"a": address}
                )
            if sent:
                break
            await asyncio.sleep(0.002)
        times.append(time.monotonic() - began)
    return times


async def floor(app: App, rounds: int) -> list[float]:
    """Seconds of the same hops, commits and hand-over without logic."""
    brokers = app.settings.kafka.brokers
    topics = [f"floor{hop}" for hop in range(HOPS)]
    await ensure_topics(brokers, [TopicSpec(topic, 12) for topic in topics])
    producer = AIOKafkaProducer(bootstrap_servers=brokers, acks="all", enable_idempotence=False)
    consumers = [AIOKafkaConsumer(topic, bootstrap_servers=brokers, fetch_max_wait_ms=50) for topic in topics]
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
    """p50 and p99 as multiples of the floor's."""
    rounds = 20 if quick else 200
    async with bench_app() as app:
        await through_the_app(app, WARM_UP, first=0)
        base = await floor(app, rounds)
        ours = await through_the_app(app, rounds, first=WARM_UP)
    lines = []
    for name, share, target in (("p50", 0.5, 2.0), ("p99", 0.99, 4.0)):
        sides = {"ours_s": quantile(ours, share), "floor_s": quantile(base, share)}
        ratio = sides["ours_s"] / sides["floor_s"]
        lines.append(at_most(f"latency {name} / floor", ratio, "x", target, rounds, sides))
    return lines


def quantile(values: list[float], share: float) -> float:
    """The value below which this share of `values` lies."""
    return statistics.quantiles(values, n=100, method="inclusive")[round(share * 100) - 1]


def benchmark(options: Options) -> list[Measured]:
    """The benchmark as it is run from the command line."""
    return asyncio.run(measure(quick=options.quick))


if __name__ == "__main__":
    sys.exit(run("latency", benchmark))
