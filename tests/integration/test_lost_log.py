"""A broker that lost its log, or a part of it, under a deployment that runs on."""

from __future__ import annotations

import asyncio
import os
import shutil
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass

import pytest
from aiokafka.admin import AIOKafkaAdminClient

from deploy.local import EmbeddedStack, Endpoints, running_endpoints
from services.core.app import App
from services.core.bus import log_recovery
from services.core.bus.delivery import Record
from services.core.bus.publisher import Outcome, Publisher
from services.core.db.migrate import migrate
from services.core.errors import Temporary
from services.core.settings import Settings
from services.keep_time.keeper import KEEP_TIME
from services.operations.idle import until_idle
from services.pipeline import RECEIVE_EMAIL
from services.receive_email.accept import accept
from tests.flow.scenario import rows, sent_mail
from tests.support.app import running_app, settings_for
from tests.support.bus import until
from tests.support.kafka import wipe_broker
from tests.support.letters import letter
from tests.support.stack import KAFKA, fresh_database, temporary_home, uses_apache_kafka

MAILS = 24
SETTLED_S = 150.0
PREFIX = "lost."

apache = pytest.mark.skipif(not uses_apache_kafka(), reason="the embedded broker loses everything or nothing")
pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]


@dataclass(frozen=True, slots=True)
class Place:
    """A stack of this test's own, whose broker it may wipe, and settings on it."""

    stack: EmbeddedStack
    endpoints: Endpoints
    settings: Settings


@pytest.fixture
def place() -> Iterator[Place]:
    """A fresh stack and database."""
    kind = "apache" if uses_apache_kafka() else os.environ.get(KAFKA, "embedded")
    with temporary_home(in_memory=True) as home:
        stack = EmbeddedStack(home, kafka=kind)
        with stack:
            endpoints = running_endpoints(home)
            assert endpoints is not None
            with fresh_database(endpoints.database) as database:
                migrate(database)
                yield Place(stack, endpoints, settings_for(endpoints, database, PREFIX, home, pool_size=8))


@pytest.fixture
async def running(place: Place) -> AsyncIterator[App]:
    """Every processor at work in this process."""
    async with running_app(place.settings) as app:
        yield app


async def post(app: App, number: int) -> None:
    """One mail of one person; an edge tries again what is stored and could not be published."""
    sender = f"p{number}@people.example"
    raw = letter(f"Where is parcel {number}?", sender=sender, message_id=f"<{number}@people.example>")
    for _ in range(100):
        try:
            await accept(app, app.settings.inboxes[0], raw, source="file", source_key=f"{number}")
            return
        except Temporary:
            await asyncio.sleep(0.5)


async def post_many(app: App, numbers: range, pause_s: float = 0.1) -> None:
    for number in numbers:
        await post(app, number)
        await asyncio.sleep(pause_s)


def answered(place: Place) -> Counter[str]:
    """How many replies each person got."""
    return Counter(str(mail["X-Envelope-To"]) for mail in sent_mail(place.endpoints.outbox))


def once(numbers: range) -> Counter[str]:
    """One reply for each."""
    return Counter(f"<p{number}@people.example>" for number in numbers)


async def test_a_broker_whose_log_was_wiped_under_load_was_never_told_again(place: Place, running: App) -> None:
    """Every mail is answered exactly once, although the log is lost under running processes; none is restarted."""
    posting = asyncio.create_task(post_many(running, range(MAILS)))
    await until(lambda: len(answered(place)) >= 3)
    await asyncio.to_thread(wipe_broker, place.stack)
    await posting
    await until_idle(running, timeout_s=SETTLED_S)
    assert answered(place) == once(range(MAILS))
    lost = await rows(running, "SELECT name FROM log_topics WHERE generation = 1")
    assert len(lost) == len(await rows(running, "SELECT name FROM log_topics")) > 12


async def test_a_record_that_was_acknowledged_and_lost_while_the_log_was_new_was_never_told_again(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The last pass publishes what no consumer got in the first one, so that its mail is answered."""
    monkeypatch.setattr(log_recovery, "LAST_PASS_S", 3600.0)
    lost: list[str] = []

    publish_each = Publisher.publish_each

    async def forgetful(publisher: Publisher, records: Sequence[Record]) -> list[Outcome]:
        """Says of the first mail that it is on the log."""
        if lost or not any(one.topic.endswith(".inbound-email.raw") for one in records):
            return await publish_each(publisher, records)
        lost.extend(one.topic for one in records)
        return [None] * len(records)

    monkeypatch.setattr(Publisher, "publish_each", forgetful)
    async with running_app(place.settings) as app:
        await post_many(app, range(2))
        async with app.database.transaction() as conn:
            await conn.execute("UPDATE log_topics SET republish_at = clock_timestamp()")  # an hour has passed
        await until_idle(app, timeout_s=SETTLED_S)
    assert lost
    assert answered(place) == once(range(2))


async def test_a_log_that_was_lost_while_nothing_ran_was_started_on_empty(place: Place) -> None:
    """A start on a wiped broker publishes again what was open when the deployment stopped, and no mail twice."""
    async with running_app(place.settings) as app:
        await post_many(app, range(4))
        await until_idle(app, timeout_s=SETTLED_S)
    async with running_app(place.settings, (RECEIVE_EMAIL,)) as app:  # nobody reads these before the loss
        await post_many(app, range(4, 8), 0)
    await asyncio.to_thread(wipe_broker, place.stack)
    async with running_app(place.settings) as app:
        await until_idle(app, timeout_s=SETTLED_S)
        await post(app, 8)
        await until_idle(app, timeout_s=SETTLED_S)
    assert answered(place) == once(range(9))


@apache
async def test_records_of_a_topic_that_was_made_again_lay_before_the_consumer(place: Place, running: App) -> None:
    """A topic that is deleted under its consumers is read from its new beginning, whatever they had reached before."""
    await post_many(running, range(6))
    await until_idle(running, timeout_s=SETTLED_S)
    posting = asyncio.create_task(post_many(running, range(6, 18)))
    admin = AIOKafkaAdminClient(bootstrap_servers=place.endpoints.kafka)
    await admin.start()
    try:
        await admin.delete_topics([f"{PREFIX}{name}" for name in ("turns", "inbound-email", "reply-drafted")])
    finally:
        await admin.close()
    await posting
    await until_idle(running, timeout_s=SETTLED_S)
    assert answered(place) == once(range(18))
    lost = await rows(running, "SELECT name FROM log_topics WHERE generation > 0 ORDER BY name")
    assert [row["name"] for row in lost] == [f"{PREFIX}{name}" for name in ("inbound-email", "reply-drafted", "turns")]


@apache
async def test_the_tail_of_a_log_that_was_restored_from_a_copy_was_missed_by_nobody(place: Place) -> None:
    """A broker that comes back with its data of before has lost what came later: that is published again."""
    data, copy = place.stack.home / "kafka", place.stack.home / "copy"
    async with running_app(place.settings) as app:
        await post_many(app, range(4))
        await until_idle(app, timeout_s=SETTLED_S)
    await asyncio.to_thread(place.stack.kill, "kafka")
    shutil.copytree(data, copy)
    await asyncio.to_thread(place.stack.restart, "kafka")
    async with running_app(place.settings) as app:
        await post_many(app, range(4, 8))
        await until_idle(app, timeout_s=SETTLED_S)
    async with running_app(place.settings, (KEEP_TIME,)) as app:
        await post_many(app, range(8, 10))
    await asyncio.to_thread(place.stack.kill, "kafka")
    shutil.rmtree(data)
    copy.rename(data)
    await asyncio.to_thread(place.stack.restart, "kafka")
    async with running_app(place.settings) as app:
        await post(app, 10)
        await until_idle(app, timeout_s=SETTLED_S)
    assert answered(place) == once(range(11))
