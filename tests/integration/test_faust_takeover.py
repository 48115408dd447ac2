"""A second worker process joins a group, and the first is killed: nothing is lost, reordered or passed over."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from deploy.local import Endpoints
from services.core.bus.dead_letters import dead_letter_topic
from services.core.bus.delivery import Delivery, Partition
from services.core.bus.topics_admin import TopicSpec, committed, ensure_topics
from tests.support.bus import POISON, Desk, at_work, fill, total_lag, until, until_true

RECORDS, KEYS, PARTITIONS = 600, 24, 12
VALUES = [POISON if n % 50 == 25 else b"%d" % n for n in range(RECORDS)]


@dataclass(frozen=True)
class Note:
    """One line of a worker's log."""

    what: str
    place: tuple[int, int]
    key: str
    value: str


def notes(log: Path) -> list[Note]:
    """What the workers have done so far, in the order in which they did it."""
    lines = log.read_text().splitlines() if log.exists() else []
    fields = [line.split() for line in lines]
    return [Note(what, (int(partition), int(offset)), key, value) for what, partition, offset, key, value in fields]


@contextmanager
def worker(brokers: str, group: str, topic: str, log: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A worker process; ended at the end of the block if it still runs."""
    command = [sys.executable, "-m", "tests.support.bus_worker", brokers, group, topic, str(log)]
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(120)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


async def watch_commits(brokers: str, group: str, topic: str, log: Path) -> None:
    """Fail as soon as the group has committed past a record that no worker has finished."""
    places: list[Partition] = [(topic, n) for n in range(PARTITIONS)]
    while True:
        reached = await committed(brokers, group, places)
        finished = {note.place for note in notes(log)}
        passed = {(n, at) for (_, n), end in reached.items() for at in range(end)} - finished
        assert not passed, f"committed although unfinished: {sorted(passed)[:5]}"
        await asyncio.sleep(0.2)


@pytest.mark.slow
async def test_a_worker_joins_and_the_first_is_killed(stack: Endpoints, topic_prefix: str, tmp_path: Path) -> None:
    """All is done, poison lies in the dead letters, keys keep their order, no commit passes unfinished work."""
    topic, group, log = topic_prefix + "turns", topic_prefix + "group", tmp_path / "log"
    dead_letters = dead_letter_topic(topic, group)
    await ensure_topics(stack.kafka, [TopicSpec(topic, PARTITIONS), TopicSpec(dead_letters, 1)])
    await fill(stack.kafka, topic, VALUES, keys=KEYS)
    watch = asyncio.create_task(watch_commits(stack.kafka, group, topic, log))
    with worker(stack.kafka, group, topic, log) as first:
        await until(lambda: len(notes(log)) > RECORDS // 10)
        with worker(stack.kafka, group, topic, log) as second:
            await until(lambda: len(notes(log)) > RECORDS // 3)
            first.kill()
            await until(lambda: len({note.place for note in notes(log)}) == RECORDS)
            await until_true(lambda: nothing_left(stack.kafka, group, topic))
            assert second.poll() is None
    assert not watch.done()
    watch.cancel()
    check_order(notes(log))
    await check_dead_letters(stack.kafka, topic_prefix, dead_letters)


async def nothing_left(brokers: str, group: str, topic: str) -> bool:
    return await total_lag(brokers, group, topic) == 0


def check_order(made: list[Note]) -> None:
    """Each key's records were first done in the order in which they lie on the log; all were done."""
    first_done: dict[tuple[int, int], Note] = {}
    for note in made:
        first_done.setdefault(note.place, note)
    assert sorted(note.value for note in first_done.values()) == sorted(value.decode() for value in VALUES)
    for key in range(KEYS):
        places = [place for place, note in first_done.items() if note.key == str(key)]
        assert places == sorted(places)


async def check_dead_letters(brokers: str, topic_prefix: str, dead_letters: str) -> None:
    """Every poisonous record has a dead letter, untouched, that says where it came from."""
    reader = Desk(brokers, topic_prefix + "reader", [dead_letters])
    expected = {f"{n % KEYS}".encode() for n, value in enumerate(VALUES) if value == POISON}
    async with at_work(reader):
        await until(lambda: len(origins(reader.given_up)) == VALUES.count(POISON))
    assert {dead_letter.key for dead_letter in reader.given_up} == expected


def origins(read: list[Delivery]) -> set[tuple[bytes, bytes]]:
    headers = [dict(dead_letter.headers) for dead_letter in read]
    return {(one["dlq_origin_partition"], one["dlq_origin_offset"]) for one in headers}
