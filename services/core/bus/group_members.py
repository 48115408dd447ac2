"""Who is in a consumer group, and which partitions each member has, as the group's coordinator says.

aiokafka 0.14 reads version 3 of the answer with the schema of version 2 and fails, so version 2 is asked for.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from aiokafka.client import AIOKafkaClient, CoordinationType
from aiokafka.coordinator.protocol import ConsumerProtocolMemberAssignment
from aiokafka.errors import KafkaError
from aiokafka.protocol.admin import DescribeGroupsRequest_v2
from aiokafka.protocol.api import Request

from services.core.bus.broker_client import Brokers, client_arguments
from services.core.bus.delivery import Partition

ASK_S = 10.0


@dataclass(frozen=True, slots=True)
class Member:
    """One process in a group: what it calls itself, the address that the broker sees, its partitions."""

    group: str
    client: str
    host: str
    partitions: tuple[Partition, ...]


async def group_members(brokers: Brokers, groups: Sequence[str]) -> list[Member] | None:
    """The live members of the groups; a group without any has none. None where the broker does not say."""
    client = AIOKafkaClient(**client_arguments(brokers))
    try:
        async with asyncio.timeout(ASK_S):
            await client.bootstrap()
            answers = [await _ask(client, group) for group in groups]
    except (KafkaError, TimeoutError, ValueError, NotImplementedError):
        return None
    finally:
        await client.close()
    found = (member for answer in answers for member in _members(answer))
    return sorted(found, key=lambda one: (one.group, one.host, one.partitions))


class _Describe(Request[DescribeGroupsRequest_v2]):  # type: ignore[misc]
    API_KEY = DescribeGroupsRequest_v2.API_KEY

    def __init__(self, group: str) -> None:
        self._group = group

    def build(self, request_struct_class: type[DescribeGroupsRequest_v2]) -> DescribeGroupsRequest_v2:
        return request_struct_class([self._group])


async def _ask(client: AIOKafkaClient, group: str) -> Any:
    node = await client.coordinator_lookup(CoordinationType.GROUP, group)
    await client.ready(node)
    return await client.send(node, _Describe(group))


def _members(answer: Any) -> Iterator[Member]:
    for _, group, _, _, _, members in answer.groups:
        for _, client, host, _, assignment in members:
            yield Member(group, client, host.lstrip("/"), tuple(sorted(_assigned(assignment))))


def _assigned(assignment: bytes) -> Iterator[Partition]:
    if assignment:
        for topic, partitions in ConsumerProtocolMemberAssignment.decode(assignment).assignment:
            yield from ((topic, partition) for partition in partitions)
