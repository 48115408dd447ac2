"""10,000 mails at once, a model that answers in 0 ms, every processor: replies a second, against the floor.

The first mail's append until the last reply was accepted, by the clock of the mail server (see `outside`); then until all
that follows is done, too. While they are worked on, a mail by itself comes every few seconds, as from a customer who writes
in that hour: how long those wait is told apart. `PROCESSES=2` has as many processes run every processor. The floor, in the same run: as many
mails through the same number of Kafka hops, each with a commit of one insert, and one SMTP hand-over, with no logic in
between; as many at once as a processor's lanes run.
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
from services.pipeline import NAMES, PROCESSORS
from tests.benchmarks.latency import HOPS, bare_consumer, bare_producer, hand_over, quantile
from tests.benchmarks.measured import Measured, at_least, at_most
from tests.benchmarks.outside import MOST_CPU_MS, MOST_SYNCS, Outside, deployed
from tests.benchmarks.recall_support import Options, run

TARGET = 0.5
MAILS_A_SECOND = 20.0
WARM_UP = 10
LONE_EVERY_S = 3.0


async def through_the_app(seen: Outside, mails: int) -> list[Measured]:
    """Replies a second, how long each mail waited for its own, what failed, and the rate with all that follows."""
    since, began = await seen.newest(), time.monotonic()
    lone: list[asyncio.Task[list[float]]] = []
    burst = asyncio.create_task(seen.answered(mails))
    while not (await asyncio.wait([burst], timeout=LONE_EVERY_S))[0]:
        lone.append(asyncio.create_task(seen.answered(1)))
    waited = sorted(await burst)
    took = time.monotonic() - began
    alone = sorted([one for [one] in await asyncio.gather(*lone)])
    await seen.settled(since)
    settled, failed = time.monotonic() - began, await seen.failed()
    return [
        at_least("throughput", mails / took, "mails/s", MAILS_A_SECOND, mails),
        Measured("with all that follows", mails / settled, "mails/s", n=mails),
        *waits("a mail's wait for its reply under that load", waited),
        *waits("the same of mails that came alone meanwhile", alone),
        Measured("turns that failed", failed, "", 0, failed == 0, mails),
    ]


def waits(name: str, seconds: list[float]) -> list[Measured]:
    """The median and the 99th percentile of sorted waits, where there are two or more."""
    shares = (("p50", 0.5), ("p99", 0.99)) if len(seconds) > 1 else ()
    return [Measured(f"{name}, {label}", quantile(seconds, share), "s", n=len(seconds)) for label, share in shares]


async def floor(app: App, mails: int) -> float:
    """Mails a second through the same hops, commits and hand-overs without logic."""
    brokers = app.settings.kafka.brokers
    topics = [f"bare{hop}" for hop in range(HOPS)]
    await ensure_topics(brokers, [TopicSpec(topic, 12) for topic in topics])
    async with app.database.transaction() as conn:
        await conn.execute("CREATE TABLE IF NOT EXISTS floor_rows (n int)")
    producer = bare_producer(app)
    consumers = [bare_consumer(app, topic) for topic in topics]
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


async def measure(*, quick: bool) -> Sequence[Measured]:
    """The rate as a share of the floor's, and what each mail cost."""
    mails = int(os.environ.get("MAILS", "200" if quick else "10000"))
    more = [[one.name for one in PROCESSORS]] * (int(os.environ.get("PROCESSES", "1")) - 1)
    async with deployed([NAMES, *more]) as seen:
        await seen.answered(WARM_UP)
        base = await floor(seen.app, mails)
        before = await seen.spent()
        lines = await through_the_app(seen, mails)
        spent = (await seen.spent()).since(before, mails)
    rate = lines[0].value
    sides = {"mails_s": rate, "floor_mails_s": base}
    lines.insert(0, at_least("throughput / floor", rate / base, "x", TARGET, mails, sides))
    ours, servers = spent["ours_ms"], spent["servers_ms"]
    cpu = {"ours_ms": ours, "servers_ms": servers}
    return [
        *lines,
        at_most("CPU a mail, ours and the servers'", ours + servers, "ms", MOST_CPU_MS, mails, cpu),
        at_most("waits for the disk a mail", spent["syncs"], "", MOST_SYNCS, mails),
        Measured("WAL a mail", spent["wal_kb"], "kB", n=mails),
    ]


def benchmark(options: Options) -> Sequence[Measured]:
    """The benchmark as it is run from the command line."""
    return asyncio.run(measure(quick=options.quick))


if __name__ == "__main__":
    sys.exit(run("throughput", benchmark))
