"""Who is in a consumer group, and which partitions each member has, as the group's coordinator says."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from aiokafka.coordinator.protocol import ConsumerProtocolMemberAssignment
from aiokafka.errors import KafkaError

from services.core.bus.delivery import Partition
from services.core.bus.topics_admin import admin_client

ASK_S = 10.0


@dataclass(frozen=True, slots=True)
class Member:
    """One process in a group: what it calls itself, the address that the broker sees, its partitions."""

    group: str
    client: str
    host: str
    partitions: tuple[Partition, ...]


async def group_members(brokers: str, groups: Sequence[str]) -> list[Member] | None:
    """The live members of the groups; a group without any has none. None where the broker does not tell."""
    try:
        async with asyncio.timeout(ASK_S), admin_client(brokers) as admin:
            answers = await admin.describe_consumer_groups(list(groups))
    except (KafkaError, TimeoutError, ValueError):
        return None
    return sorted((member for answer in answers for member in _members(answer)), key=lambda one: (one.group, one.host))


def _members(answer: Any) -> Iterator[Member]:
    for _, group, _, _, _, members, *_ in answer.groups:
        for _, client, host, _, assignment, *_ in members:
            yield Member(group, client, host.lstrip("/"), tuple(sorted(_assigned(assignment))))


def _assigned(assignment: bytes) -> Iterator[Partition]:
    if assignment:
        for topic, partitions in ConsumerProtocolMemberAssignment.decode(assignment).assignment:
            yield from ((topic, partition) for partition in partitions)
