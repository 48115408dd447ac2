"""Shared by the tests of receiving: a deployment on the session's stack, and mails to let in.

Its events are counted on the log itself and in the table of events, so "no second event" means both.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from email.message import EmailMessage
from pathlib import Path
from typing import Any

from aiokafka import AIOKafkaConsumer
from aiokafka.admin import AIOKafkaAdminClient, NewTopic

from deploy.local import Endpoints
from schemas.events.mail import MailReceived
from services.core.app import App, open_app
from services.core.db import fetch_all
from services.core.db.migrate import migrate
from services.core.settings import InboxSettings, Settings

PARTITIONS = 2


def letter(number: int | str, *, body: str = "The lamp is broken.", date: str = "", pad: int = 0) -> bytes:
    """A mail with a Message-ID made from `number`, `pad` bytes larger than it need be."""
    message = EmailMessage()
    message["From"], message["To"], message["Subject"] = "ann@example.org", "support@shop.example", f"Mail {number}"
    message["Message-ID"] = f"<mail-{number}@example.org>"
    if date:
        message["Date"] = date
    message.set_content(body + "\n" + "x" * pad)
    return message.as_bytes().replace(b"\n", b"\r\n")


def settings_for(stack: Endpoints, database: str, topic_prefix: str, home: Path, **changes: Any) -> Settings:
    """Settings for a deployment of this test's own."""
    given: dict[str, Any] = {
        "home": home,
        "database_url": database,
        "redis_url": stack.redis,
        "kafka": {"brokers": stack.kafka, "topic_prefix": topic_prefix, "embedded": True},
        "inboxes": (InboxSettings(name="support", address="support@shop.example"),),
        "pool_size": 6,
    }
    return Settings(**(given | changes))


@asynccontextmanager
async def receiving_app(settings: Settings, **options: Any) -> AsyncIterator[App]:
    """An open deployment whose database is migrated and whose topic for raw mail exists."""
    await asyncio.to_thread(migrate, settings.database_url)
    await make_topic(settings)
    async with open_app(settings, **options) as app:
        yield app


async def make_topic(settings: Settings) -> None:
    """Make the topic for raw mail, unless it is there."""
    admin = AIOKafkaAdminClient(bootstrap_servers=settings.kafka.brokers)
    await admin.start()
    topic = settings.kafka.topic_prefix + MailReceived.TOPIC
    if topic not in await admin.list_topics():
        await admin.create_topics([NewTopic(topic, num_partitions=PARTITIONS, replication_factor=1)])
    await admin.close()


async def stored(app: App) -> list[MailReceived]:
    """The events in the history, in order."""
    async with app.database.reading() as conn:
        rows = await fetch_all(
            conn, "SELECT data, id IN (SELECT event_id FROM outbox) AS unpublished FROM events ORDER BY seq"
        )
    assert not any(row["unpublished"] for row in rows), "an event was stored and is not on the log"
    return [MailReceived.model_validate(row["data"]) for row in rows]


async def on_the_log(settings: Settings, expected: int) -> list[dict[str, str]]:
    """The headers of the events on the topic: waits for `expected`, then a moment longer for what should not be."""
    consumer = AIOKafkaConsumer(
        settings.kafka.topic_prefix + MailReceived.TOPIC,
        bootstrap_servers=settings.kafka.brokers,
        auto_offset_reset="earliest",
    )
    found: list[dict[str, str]] = []
    async with consumer:
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline:
            enough = len(found) >= expected
            batches = await consumer.getmany(timeout_ms=700 if enough else 200)
            found += [{k: v.decode() for k, v in one.headers} for batch in batches.values() for one in batch]
            if enough and not batches:
                break
    return found


async def eventually(condition: Callable[[], Awaitable[bool]], what: str, seconds: float = 30) -> None:
    """Wait until the condition holds; fails with `what` where it never does."""
    deadline = time.monotonic() + seconds
    while not await condition():
        if time.monotonic() > deadline:
            raise AssertionError(f"never happened: {what}")
        await asyncio.sleep(0.05)
