"""A rolling upgrade: the previous release's code next to this tree's, on one database and one broker, and back again."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
import yaml

from deploy.local import Endpoints
from services.core.app import App, open_app
from services.core.bus.dead_letters import dead_letter_topic
from services.core.bus.group_members import group_members
from services.core.bus.topics_admin import ends
from services.core.bus.undone_events import Pairs, pairs_of, undone_places
from services.core.db import fetch_all
from services.core.settings import Settings
from services.operations.idle import left_to_do, until_idle
from services.pipeline import consumers
from services.receive_email.accept import accept
from tests.support.app import running_app, settings_for
from tests.support.letters import letter
from tests.support.previous_release import previous_release
from tests.support.stack import temporary_home
from tests.support.workers import Process, Worker, environment_of

MAILS = 6
HANDED_OVER_S = 12.0  # two sessions of the embedded broker
AT_WORK = '"event": "at work"'  # how 0.1.0 says that it is running
LOG_OF_CRASH = "Traceback"


def spawn_in(tree: Path, names: Sequence[str], environment: Mapping[str, str], log: Path) -> Process:
    """`python -m services NAMES` of another tree."""
    with log.open("wb") as output:
        return subprocess.Popen(
            [sys.executable, "-m", "services", *names],
            cwd=tree,
            env={**environment, "PYTHONPATH": str(tree)},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
        )


@pytest.mark.slow
@pytest.mark.timeout(600)
async def test_the_previous_release_works_next_to_this_one(
    stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path
) -> None:
    """During an upgrade and after a rollback every mail ends in one way, and no consumer makes a dead letter."""
    version, tree = previous_release(tmp_path)
    with temporary_home(in_memory=True) as home:
        settings = settings_for(stack, database, topic_prefix, home)
        log = tmp_path / f"{version}.log"
        async with running_app(settings) as app:
            process = spawn_in(tree, ["all"], environment_of(settings), log)
            old = Worker(version, ("all",), log, process, AT_WORK)
            try:
                await old.ready(300)  # its tree has no compiled files yet
                await shared_by(settings, consumers_of(tree), 2)
                await post(app, range(MAILS))
                await until_idle(app, timeout_s=180)
                await check(app, MAILS)
                both = await who_worked(app)
            except BaseException:
                print(old.tail(60))
                old.kill()
                raise
        try:  # the rollback: this tree's processes have ended, the previous release goes on alone
            async with open_app(settings) as app:
                await shared_by(settings, consumers_of(tree), 1)
                await post(app, range(MAILS, 2 * MAILS))
                await settled_by(app, tree)
                await check(app, 2 * MAILS)
        except BaseException:
            print(old.tail(60))
            raise
        finally:
            assert old.stop() == 0
    print(f"{version} next to this tree stored events: {both}")
    assert LOG_OF_CRASH not in log.read_text()
    assert min(both.values()) > 0, "one of the two did nothing"


async def shared_by(settings: Settings, consumers: frozenset[str], members: int) -> None:
    """Return when so many processes have shared the partitions of each of these groups for a while.

    Version 0.1 throws away what it fetches while partitions are handed over, and where a partition has no commit yet it
    does not read that again. This release publishes it once more a minute or two later (`missed.py`); that is
    another test's.
    """
    groups = [settings.kafka.topic_prefix + name for name in consumers]
    async with asyncio.timeout(120):
        while not settings.kafka.embedded:  # which does not tell who has which partitions
            found = await group_members(settings.kafka, groups) or []
            counts = Counter(one.group for one in found if one.partitions)
            if all(counts[group] == members for group in groups):
                break
            await asyncio.sleep(1)
    await asyncio.sleep(HANDED_OVER_S)


def consumers_of(tree: Path) -> frozenset[str]:
    """The consumers that a release has."""
    return frozenset(name for names in _topics_of(tree).values() for name in names)


def _topics_of(tree: Path) -> dict[str, list[str]]:
    """Which consumers of a release read which topic."""
    topics = yaml.safe_load((tree / "schemas" / "topics.yaml").read_text())["topics"]
    return {topic: list(one["consumers"]) for topic, one in topics.items()}


async def settled_by(app: App, tree: Path) -> None:
    """Return when its consumers have nothing left to do of what they read; what only this tree reads waits for it."""
    topics = _topics_of(tree)
    pairs = pairs_of([(topic, name) for topic, name in consumers() if name in topics.get(topic, ())])
    async with asyncio.timeout(180):
        while {"timers", "the log"} & set(await left_to_do(app)) or await _undone(app, pairs):
            await asyncio.sleep(0.2)


async def _undone(app: App, pairs: Pairs) -> list[int]:
    async with app.database.reading() as conn:
        return await undone_places(conn, pairs)


async def post(app: App, numbers: range) -> None:
    """Mails of people of their own."""
    for number in numbers:
        raw = letter(
            "What does the Team plan cost?", sender=f"P <p{number}@x.example>", message_id=f"<{number}@x.example>"
        )
        await accept(app, app.settings.inboxes[0], raw, source="file", source_key=str(number))


async def check(app: App, mails: int) -> None:
    """Each mail's turn has ended once, nothing is left in the outbox, and nobody made a dead letter."""
    async with app.database.reading() as conn:
        [turns] = await fetch_all(conn, "SELECT count(*) AS n, count(closed_at) AS closed FROM turns")
        [sent] = await fetch_all(conn, "SELECT count(*) AS n, count(DISTINCT thread_id) AS threads FROM deliveries")
        left = await fetch_all(conn, "SELECT * FROM outbox")
        failed = await fetch_all(conn, "SELECT data FROM events WHERE type = 'turn.failed.v1'")
    assert (turns["n"], turns["closed"]) == (mails, mails)
    assert sent["n"] == sent["threads"] == mails
    assert left == []
    assert failed == []
    prefix = app.settings.kafka.topic_prefix
    dead_letters = [dead_letter_topic(prefix + topic, prefix + name) for topic, name in consumers()]
    assert sum((await ends(app.settings.kafka.brokers, dead_letters)).values()) == 0


async def who_worked(app: App) -> dict[str, int]:
    """How many events each of the two stored: version 0.1 marks `published_at` later than it stores."""
    query = """SELECT count(*) FILTER (WHERE published_at - stored_at > interval '0.2 ms') AS previous,
                      count(*) FILTER (WHERE published_at - stored_at <= interval '0.2 ms') AS this FROM events"""
    async with app.database.reading() as conn:
        [row] = await fetch_all(conn, query)
    return dict(row)
