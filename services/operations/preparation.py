"""Brings database and topics up to date, before anything runs."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import timedelta

import structlog

from schemas.topics import catalogue
from services.core.bus.dead_letters import dead_letter_topic
from services.core.bus.topics_admin import TopicSpec, ensure_topics
from services.core.db.migrate import migrate
from services.core.settings import Settings
from services.core.settings.storage import DEAD_LETTERS

EMBEDDED_PARTITIONS = 4  # each fetch names every partition of its topics; no more processes of `up` share them

log = structlog.get_logger(__name__)

Report = Callable[[str], None]  # gets one line for each thing that a start waits for


def log_line(line: str) -> None:
    """Report to the log."""
    log.info(line)  # looked up when it is called: before logs are configured, structlog would print to the terminal


def topic_specs(settings: Settings) -> list[TopicSpec]:
    """Every topic of topics.yaml, with fewer partitions on the embedded broker, and each consumer's dead letters."""
    prefix, embedded = settings.kafka.topic_prefix, settings.kafka.embedded
    specs = [
        TopicSpec(
            prefix + one.name,
            min(one.partitions, EMBEDDED_PARTITIONS) if embedded else one.partitions,
            timedelta(days=one.retention_days) // timedelta(milliseconds=1),
        )
        for one in catalogue().topics.values()
    ]
    letters = [dead_letter_topic(prefix + topic, prefix + consumer) for topic, consumer in catalogue().consumers()]
    return specs + [TopicSpec(name, 1, DEAD_LETTERS // timedelta(milliseconds=1)) for name in letters]


async def prepare(settings: Settings, report: Report = log_line) -> None:
    """Bring database and topics up to date. Safe at every start, and by several processes at once."""
    report("waiting for the database, which is migrated where it must be")
    await asyncio.to_thread(migrate, settings.database_url)
    report(f"waiting for the broker at {settings.kafka.brokers}, where missing topics are created")
    await ensure_topics(settings.kafka, topic_specs(settings), replication=settings.kafka.replication)
