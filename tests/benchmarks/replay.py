"""Rebuild every projection from offset 0, against consuming the same events from their topics and doing nothing.

A small house lives for real; its history is then multiplied (other ids, other workspaces), so that a long one can be
had in minutes. `MAILS=100000` gives the full size. No model takes part.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import re
import sys
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Iterator, Sequence
from uuid import UUID, uuid5

from aiokafka import AIOKafkaConsumer
from psycopg import sql
from psycopg.types.json import Jsonb

from services.core.bus import history
from services.core.bus.codec import decode, encode
from services.core.bus.delivery import Delivery
from services.core.bus.envelope import Envelope
from services.core.bus.topics_admin import TopicSpec, ensure_topics
from services.core.db import Connection, fetch_all, fetch_one
from services.core.house import House
from services.receive_email.accept import accept
from services.tools.fold import fold_events, projections, state_hash
from services.tools.rebuild import run as rebuild
from services.tools.rebuild.beside import beside, connected
from services.tools.rebuild.scopes import scope
from services.tools.settle import settle
from tests.benchmarks.measured import Measured
from tests.benchmarks.recall_support import Options, run
from tests.benchmarks.stage import bench_house
from tests.support.letters import letter

TARGET = 0.30
LIVED = 60  # mails that the house really answers
CONSUMED = 40_000  # events put on the broker: the embedded one keeps them in memory
PREFIX = "offset0."
UUIDS = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
COLUMNS = [
    "id",
    "workspace",
    "topic",
    "key",
    "type",
    "source",
    "time",
    "aggregate",
    "aggregate_id",
    "version",
    "data_subject",
    "correlation_id",
    "causation_id",
    "data",
    "stored_at",
    "published_at",
]


async def live(house: House) -> None:
    """Some mails, really answered and reflected on."""
    for number in range(LIVED):
        raw = letter(
            f"Hello,\n\nmy order number is {4000 + number}. What does the Team plan cost?\n\nPat",
            sender=f"Pat <pat{number % 20}@replay.example>",
            message_id=f"<{number}@replay.example>",
            subject=f"Question {number}",
        )
        await accept(house, house.settings.inboxes[0], raw, source="file", source_key=str(number))
    await settle(house, timeout_s=180)


async def multiply(conn: Connection, copies: int) -> int:
    """Give the history so many copies under other ids, each in a workspace of its own; how many events there are."""
    rows = await fetch_all(conn, "SELECT * FROM events ORDER BY seq")
    statement = sql.SQL("COPY events ({}) FROM STDIN").format(sql.SQL(", ").join(map(sql.Identifier, COLUMNS)))
    texts = [(row, Jsonb(row["data"]).obj) for row in rows]
    async with conn.cursor() as cursor, cursor.copy(statement) as copy:
        for number in range(1, copies):
            for row, data in texts:
                await copy.write_row(_copied(row, data, number))
    await conn.execute("ANALYZE events")
    counted = await fetch_one(conn, "SELECT count(*) AS n FROM events")
    assert counted is not None
    return int(counted["n"])


def _copied(row: dict[str, object], data: object, number: int) -> list[object]:
    def other(found: re.Match[str]) -> str:
        return str(uuid5(UUID(found[0]), str(number)))

    changed = {name: uuid5(value, str(number)) if isinstance(value, UUID) else value for name, value in row.items()}
    changed |= {
        "workspace": f"{row['workspace']}-{number}",
        "key": UUIDS.sub(other, str(row["key"])),
        "data": UUIDS.sub(other, json.dumps(data)),
    }
    return [changed[name] for name in COLUMNS]


async def consume(house: House, events: Sequence[Envelope], *, decoded: bool) -> float:
    """Events a second, read from their topics by one consumer, from offset 0, and let go."""
    consumer = AIOKafkaConsumer(
        *sorted({PREFIX + event.topic for event in events}),
        bootstrap_servers=house.settings.kafka.brokers,
        auto_offset_reset="earliest",
        group_id=None,
    )
    await consumer.start()
    seen, began = 0, time.monotonic()
    while seen < len(events):
        for records in (await consumer.getmany(timeout_ms=1000, max_records=500)).values():
            seen += len(records)
            if decoded:
                for one in records:
                    decode(Delivery(one.topic, one.partition, one.offset, one.key, one.value, tuple(one.headers)))
    seconds = time.monotonic() - began
    await consumer.stop()
    return seen / seconds


async def publish(house: House, events: Sequence[Envelope]) -> None:
    """Put the events on topics of this benchmark's own."""
    await ensure_topics(
        house.settings.kafka.brokers, [TopicSpec(topic, 12) for topic in {PREFIX + event.topic for event in events}]
    )
    for begin in range(0, len(events), 500):
        await house.publisher.publish([encode(one, topic_prefix=PREFIX) for one in events[begin : begin + 500]])


async def fold_otherwise(url: str, rows: list[dict[str, object]]) -> dict[str, str]:
    """The state hash after folding with the keys interleaved at random and every event doubled."""
    dice = random.Random(7)
    queues: dict[tuple[object, object], list[Envelope]] = defaultdict(list)
    for row in rows:
        queues[row["aggregate"], row["aggregate_id"]].append(history.envelope(row))
    turns = [key for key, queue in queues.items() for _ in queue]
    dice.shuffle(turns)
    sources = {key: iter(queue) for key, queue in queues.items()}
    async with beside(url, "otherwise") as scratch, connected(scratch) as target:
        await fold_events(_doubled(next(sources[key]) for key in turns), target)
        return await state_hash(target)


async def _doubled(events: Iterator[Envelope]) -> AsyncIterator[Envelope]:
    earlier: list[Envelope] = []
    for event in events:
        yield event
        earlier.append(event)
        if len(earlier) > 50:
            yield earlier.pop(0)
    for event in earlier:
        yield event


async def measure(*, quick: bool) -> list[Measured]:
    """The rate of a rebuild as a share of the rate of consuming, and whether the hashes agree."""
    mails = int(os.environ.get("MAILS", "300" if quick else "6000"))
    async with bench_house() as house:
        url, whole = house.settings.database_url, scope("all")
        await live(house)
        async with connected(url, house.keys) as conn:
            lived = await state_hash(conn)
            checked = await rebuild.check(house.settings, whole, lambda count: None)
            stored = await multiply(conn, max(1, mails // LIVED))
            rows = await fetch_all(conn, "SELECT * FROM events ORDER BY seq LIMIT %(n)s", {"n": CONSUMED})
        envelopes = [history.envelope(row) for row in rows]
        await publish(house, envelopes)
        alone = await consume(house, envelopes, decoded=False)
        with_decoding = await consume(house, envelopes, decoded=True)
        began = time.monotonic()
        folded = await rebuild.swap(house.settings, whole, lambda count: None)
        seconds = time.monotonic() - began
        equal = checked.differences == () and checked.hashes.items() <= lived.items()
        async with connected(url, house.keys) as conn:
            rebuilt = await state_hash(conn)
            changing = await fetch_all(conn, "SELECT * FROM events WHERE version IS NOT NULL ORDER BY seq")
        otherwise = rebuilt == await fold_otherwise(url, changing)
    return lines(stored, folded, seconds, alone, with_decoding, equal, otherwise, mails)


def lines(
    stored: int, folded: int, seconds: float, alone: float, decoded: float, equal: bool, otherwise: bool, mails: int
) -> list[Measured]:
    """What is reported. A rebuild goes through the whole log, and folds those of its events that change a table."""
    rate = stored / seconds
    sides = {"rebuild_events_s": rate, "consume_events_s": alone}
    return [
        Measured("rebuild / consuming alone", rate / alone, "x", TARGET, rate / alone >= TARGET, stored, sides),
        Measured("rebuild / consuming and decoding", rate / decoded, "x", n=stored),
        Measured("rebuild, folded events", folded / seconds, "events/s", n=folded),
        Measured("rebuild, mails", mails / seconds, "mails/s", n=mails),
        Measured("same hash as the live run", float(equal), "of 1", 1, equal, len(projections())),
        Measured("same hash interleaved and doubled", float(otherwise), "of 1", 1, otherwise, len(projections())),
    ]


def benchmark(options: Options) -> list[Measured]:
    """The benchmark as it is run from the command line."""
    return asyncio.run(measure(quick=options.quick))


if __name__ == "__main__":
    sys.exit(run("replay", benchmark))
