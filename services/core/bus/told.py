"""Keeps a broker that forgets in step with the stored history: the embedded one is empty after each of its starts.

Invariants
- A topic that only this module makes says that the broker has been told. It is made last: a crash begins anew.
- Nothing is told that every consumer has done, and what is told twice is known by its id.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import structlog
from aiokafka.admin import AIOKafkaAdminClient

from services.core.bus.sweeper import refill
from services.core.bus.topics_admin import TopicSpec, ensure_topics
from services.core.clock import pause
from services.core.house import House

log = structlog.get_logger(__name__)

MARK = "told"
LOOK_EVERY_S = 2.0


async def tell(house: House, topics: Sequence[TopicSpec], consumers: list[tuple[str, str]]) -> bool:
    """Where the broker has forgotten: make the topics and publish what is not yet consumed; whether that was so."""
    kafka = house.settings.kafka
    mark = TopicSpec(kafka.topic_prefix + MARK, 1)
    if await _has_topic(kafka.brokers, mark.name):
        return False
    await ensure_topics(kafka.brokers, topics, replication=kafka.replication)
    count = await refill(house, consumers)
    await ensure_topics(kafka.brokers, [mark], replication=kafka.replication)
    log.info("told the broker what it did not know", events=count)
    return True


async def keep_told(
    house: House, topics: Sequence[TopicSpec], consumers: list[tuple[str, str]], stop: asyncio.Event
) -> None:
    """`tell` a broker that was started anew, until `stop` is set; one that does not answer is asked again."""
    while not stop.is_set():
        try:
            await tell(house, topics, consumers)
        except Exception as error:
            log.warning("the broker could not be asked what it knows, will try again", error=repr(error))
        await pause(stop, LOOK_EVERY_S)


async def _has_topic(brokers: str, name: str) -> bool:
    admin = AIOKafkaAdminClient(bootstrap_servers=brokers, request_timeout_ms=5000)
    try:
        await admin.start()
        return name in await admin.list_topics()
    finally:
        await admin.close()
