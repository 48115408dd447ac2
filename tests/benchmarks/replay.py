"""Rebuild every projection from offset 0, against consuming the same events from their topics and doing nothing.

A small deployment lives for real; its history is then multiplied (other ids, other workspaces, other keys), so that a long
one can be had in minutes. `MAILS=100000` gives the full size. No model takes part.

What each side does
- *rebuild* is `correspondent rebuild`, all of it: a schema with every table beside the live ones, the stored events read,
  opened and validated, each `apply`, the indexes, the swap under its lock.
- *consuming* is one consumer without a group that reads the topics from offset 0 and does with each record what every
  consumer of the deployment must (`runner.read`): open the seal, decode, validate. It looks the keys of a poll up at once, as
  the fold does, and keeps them for ever. *Raw* lets the bytes go unread, which no consumer can.
Both count the events of the log: a consumer meets each of them, a rebuild passes those by that change no table. The share
of the folded ones alone, against as many consumed, is a line of its own.
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
from typing import Any
from uuid import UUID, uuid5

from aiokafka import AIOKafkaConsumer
from psycopg import sql
from psycopg.types.json import Jsonb

from services.core.app import App
from services.core.bus.codec import decode, encode
from services.core.bus.delivery import Delivery
from services.core.bus.envelope import Envelope
from services.core.bus.event_row import EventRow
from services.core.bus.sealing import opened
from services.core.bus.topics_admin import TopicSpec, ensure_topics
from services.core.clock import random_bytes
from services.core.db import Connection, fetch_all, fetch_one
from services.core.keys import Keys, MasterKeys, SubjectKey, read_master_keys
from services.core.keys.aead import KEY, KEY_BYTES, clear_part, seal_json
from services.operations.idle import until_idle
from services.operations.rebuild import run as rebuild
from services.operations.rebuild.projections import fold_events, projections, state_hash
from services.operations.rebuild.scopes import scope
from services.operations.rebuild.shadow_schema import beside, connected
from services.receive_email.accept import accept
from tests.benchmarks.measured import Measured
from tests.benchmarks.recall_support import Options, run
from tests.benchmarks.stage import bench_app
from tests.support.letters import letter

TARGET = 0.30
LIVED = 60  # mails that the deployment really answers
CONSUMED = 40_000  # events put on the broker: the embedded one keeps them in memory
PREFIX = "offset0."
SEALED_BY = re.compile(rb'"\$key":"([0-9a-f-]{36})"')
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
KEY_COLUMNS = ["key_id", "workspace", "subject", "owners", "master", "wrapped"]


async def live(app: App) -> None:
    """Some mails, really answered and reflected on."""
    for number in range(LIVED):
        raw = letter(
            f"Hello,\n\nmy order number is {4000 + number}. What does the Team plan cost?\n\nPat",
            sender=f"Pat <pat{number % 20}@replay.example>",
            message_id=f"<{number}@replay.example>",
            subject=f"Question {number}",
        )
        await accept(app, app.settings.inboxes[0], raw, source="file", source_key=str(number))
    await until_idle(app, timeout_s=180)


async def multiply(conn: Connection, app: App, copies: int) -> int:
    """Give the history so many copies under other ids, each in a workspace of its own; how many events there are."""
    rows = await fetch_all(conn, "SELECT * FROM events ORDER BY seq")
    owned = await fetch_all(conn, "SELECT key_id, workspace, subject, owners FROM subject_keys")
    master = read_master_keys(app.settings.home)
    for number in range(1, copies):
        keys = {row["key_id"]: SubjectKey(uuid5(row["key_id"], str(number)), random_bytes(KEY_BYTES)) for row in owned}
        wrapped = [_copied_key(row, keys[row["key_id"]], master, number) for row in owned]
        await _put(conn, "subject_keys", KEY_COLUMNS, wrapped)
        await _put(conn, "events", COLUMNS, [_copied(row, keys, number) for row in rows])
    await conn.execute("ANALYZE events")
    counted = await fetch_one(conn, "SELECT count(*) AS n FROM events")
    assert counted is not None
    return int(counted["n"])


async def _put(conn: Connection, table: str, columns: list[str], rows: list[list[object]]) -> None:
    names = sql.SQL(", ").join(map(sql.Identifier, columns))
    statement = sql.SQL("COPY {} ({}) FROM STDIN").format(sql.Identifier(table), names)
    async with conn.cursor() as cursor, cursor.copy(statement) as copy:
        for row in rows:
            await copy.write_row(row)


def _copied_key(row: dict[str, Any], key: SubjectKey, master: MasterKeys, number: int) -> list[object]:
    owners = [uuid5(one, str(number)) for one in row["owners"]]
    subject = uuid5(row["subject"], str(number))
    return [key.id, f"{row['workspace']}-{number}", subject, owners, master.current, master.wrap(key)]


def _copied(row: dict[str, Any], keys: dict[UUID, SubjectKey], number: int) -> list[object]:
    def other(found: re.Match[str]) -> str:
        return str(uuid5(UUID(found[0]), str(number)))

    changed = {name: uuid5(value, str(number)) if isinstance(value, UUID) else value for name, value in row.items()}
    data = json.loads(UUIDS.sub(other, json.dumps(row["data"])))
    if sealed := row.get("sealed"):
        clear = clear_part(sealed).keys()
        beside = {name: one for name, one in data.items() if name in clear}
        secret = {name: one for name, one in data.items() if name not in clear}
        data = seal_json(keys[UUID(sealed[KEY])], beside, secret, of=str(changed["id"]))
    changed |= {"workspace": f"{row['workspace']}-{number}", "key": UUIDS.sub(other, row["key"]), "data": Jsonb(data)}
    return [changed[name] for name in COLUMNS]


async def consume(app: App, events: Sequence[Envelope], *, raw: bool = False) -> float:
    """Events a second, read from their topics by one consumer, from offset 0, and let go: decoded, unless `raw`."""
    consumer = AIOKafkaConsumer(
        *sorted({PREFIX + event.topic for event in events}),
        bootstrap_servers=app.settings.kafka.brokers,
        auto_offset_reset="earliest",
        group_id=None,
    )
    await consumer.start()
    keys = Keys(app.settings.database_url, lambda: read_master_keys(app.settings.home), now_s=lambda: 0)
    seen, began = 0, time.monotonic()
    while seen < len(events):
        polled = [one for some in (await consumer.getmany(timeout_ms=1000, max_records=500)).values() for one in some]
        seen += len(polled)
        if not raw:
            await keys.find({UUID(found[1].decode()) for one in polled if (found := SEALED_BY.search(one.value))})
            for one in polled:
                record = Delivery(one.topic, one.partition, one.offset, one.key, one.value, tuple(one.headers))
                decode((await opened(keys, record))[0])
    seconds = time.monotonic() - began
    await consumer.stop()
    await keys.close()
    return seen / seconds


async def publish(app: App, events: Sequence[Envelope]) -> None:
    """Put the events on topics of this benchmark's own."""
    await ensure_topics(
        app.settings.kafka.brokers, [TopicSpec(topic, 12) for topic in {PREFIX + event.topic for event in events}]
    )
    for begin in range(0, len(events), 500):
        await app.publisher.publish([encode(one, topic_prefix=PREFIX) for one in events[begin : begin + 500]])


async def fold_otherwise(url: str, rows: list[dict[str, object]]) -> dict[str, str]:
    """The state hash after folding with the keys interleaved at random and every event doubled."""
    dice = random.Random(7)
    queues: dict[tuple[object, object], list[Envelope]] = defaultdict(list)
    for row in rows:
        queues[row["aggregate"], row["aggregate_id"]].append(EventRow.of(**row).envelope())
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
    async with bench_app() as app:
        url, whole = app.settings.database_url, scope("all")
        await live(app)
        async with connected(url, app.keys) as conn:
            lived = await state_hash(conn)
            checked = await rebuild.check(app.settings, whole, lambda count: None)
            stored = await multiply(conn, app, max(1, mails // LIVED))
            rows = await fetch_all(conn, "SELECT * FROM events ORDER BY seq LIMIT %(n)s", {"n": CONSUMED})
        envelopes = [EventRow.of(**row).envelope() for row in rows]
        await publish(app, envelopes)
        raw = await consume(app, envelopes, raw=True)
        alone = await consume(app, envelopes)
        began = time.monotonic()
        folded = await rebuild.swap(app.settings, whole, lambda count: None)
        seconds = time.monotonic() - began
        equal = checked.differences == () and checked.hashes.items() <= lived.items()
        async with connected(url, app.keys) as conn:
            rebuilt = await state_hash(conn)
            changing = await fetch_all(conn, "SELECT * FROM events WHERE version IS NOT NULL ORDER BY seq")
        otherwise = rebuilt == await fold_otherwise(url, changing)
    return lines(stored, folded, seconds, alone, raw, equal, otherwise, mails)


def lines(
    stored: int, folded: int, seconds: float, alone: float, raw: float, equal: bool, otherwise: bool, mails: int
) -> list[Measured]:
    """What is reported."""
    rate = stored / seconds
    sides = {"rebuild_events_s": rate, "consume_events_s": alone, "consume_raw_events_s": raw}
    return [
        Measured("rebuild / consuming", rate / alone, "x", TARGET, rate / alone >= TARGET, stored, sides),
        Measured("rebuild, folded events alone / consuming", folded / seconds / alone, "x", n=folded),
        Measured("rebuild / consuming raw", rate / raw, "x", n=stored),
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
