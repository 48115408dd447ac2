"""Gives a consumer that is away its backlog in another order: published again, shuffled, and its offsets moved there.

The other groups of those topics meet the shuffled records as duplicates. Needs a broker whose groups can be reset.
"""

from __future__ import annotations

import asyncio
import random

from aiokafka.errors import KafkaError

from services.core.app import App
from services.core.bus.delivery import Record
from services.core.bus.publisher import LogRefused
from services.core.bus.topics_admin import committed, ends
from services.core.errors import Temporary
from services.operations.log import read
from services.pipeline import PROCESSORS
from tests.support.groups import reset_group

PATIENCE_S = 300.0
AGAIN_AFTER_S = 1.0


async def reorder(app: App, processor: str, dice: random.Random) -> int:
    """Shuffle what waits for a processor none of whose processes runs; how many records that were."""
    async with asyncio.timeout(PATIENCE_S):
        while True:
            try:
                return await _reorder(app, processor, dice)
            except (KafkaError, LogRefused, Temporary, OSError):
                await asyncio.sleep(AGAIN_AFTER_S)


async def _reorder(app: App, processor: str, dice: random.Random) -> int:
    kafka = app.settings.kafka
    group = kafka.topic_prefix + processor
    topics = [kafka.topic_prefix + topic for one in PROCESSORS if one.name == processor for topic in one.topics]
    until = await ends(kafka.brokers, topics)
    if missing := set(topics) - {topic for topic, _ in until}:
        raise Temporary(f"a broker that was wiped has no {', '.join(sorted(missing))} yet")
    begin = await committed(kafka.brokers, group, list(until))
    await reset_group(kafka.brokers, group, begin)  # refused while the group still has members
    waiting = [one async for one in read(kafka.brokers, begin, until)]
    dice.shuffle(waiting)
    await app.publisher.publish([Record(one.topic, one.key, one.value, one.headers) for one in waiting])
    await reset_group(kafka.brokers, group, until)
    return len(waiting)
