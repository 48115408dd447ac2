"""Topics as they should be: created where they are missing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from aiokafka.admin import AIOKafkaAdminClient, NewTopic


@dataclass(frozen=True, slots=True)
class TopicSpec:
    """One topic as it should be."""

    name: str
    partitions: int
    retention_ms: int = -1
    cleanup: str = "delete"


async def ensure_topics(brokers: str, specs: Sequence[TopicSpec], *, replication: int = 1) -> None:
    """Create the topics that are missing."""
    admin = AIOKafkaAdminClient(bootstrap_servers=brokers)
    await admin.start()
    try:
        there = set(await admin.list_topics())
        await admin.create_topics([NewTopic(s.name, s.partitions, replication) for s in specs if s.name not in there])
    finally:
        await admin.close()
