"""A log in memory in the broker's place: topics, consumer groups, acknowledgement; every key in its order.

For tests in which the broker is not the subject. Consumers are the real lanes and runners; only aiokafka, Faust and the
broker are left out, so that a start takes a tenth of a second and not five, and a hop waits for no fetch.

Invariants
- A record is done when the lanes acknowledge it. What a member had not done when it left goes to the group's next one.
- One loop: deployments of several threads or processes do not meet here; what another process publishes is not seen.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar
from zlib import crc32

from services.core.bus.delivery import Delivery, Partition, Record
from services.core.bus.lanes import Lanes
from services.core.bus.publisher import Outcome, Publisher

STOP_S = 60.0


@dataclass(eq=False)
class Member:
    """One consumer of a group: what it was given, in order, and the lanes that take it."""

    lanes: Lanes
    inbox: asyncio.Queue[int] = field(default_factory=asyncio.Queue)


@dataclass
class Group:
    """A consumer group: its topics, its members, who has which key, and what is done or with whom."""

    topics: frozenset[str]
    members: list[Member] = field(default_factory=list)
    homes: dict[bytes, Member] = field(default_factory=dict)
    done: set[int] = field(default_factory=set)
    taken: dict[int, Member] = field(default_factory=dict)


@dataclass
class MemoryLog:
    """The records of one deployment, in the order in which they came."""

    records: list[Record] = field(default_factory=list)
    groups: dict[str, Group] = field(default_factory=dict)
    _all: ClassVar[dict[str, MemoryLog]] = {}

    @classmethod
    def of(cls, prefix: str) -> MemoryLog:
        """The log of the deployment whose topics begin with `prefix`."""
        return cls._all.setdefault(prefix, cls())

    def append(self, records: Sequence[Record]) -> None:
        """Records at the end of their topics; each group hands them to its members."""
        for record in records:
            self.records.append(record)
            for group in self.groups.values():
                self._assign(group, len(self.records) - 1)

    async def consume(self, name: str, topics: Sequence[str], lanes: Lanes) -> None:
        """Be a member of the group `name` until cancelled; what runs then ends and is acknowledged."""
        group = self.groups.setdefault(name, Group(frozenset(topics)))
        member = Member(lanes)
        lanes.assigned([(topic, 0) for topic in topics])
        group.members.append(member)
        self._assign_all(group)
        try:
            while True:
                offset = await member.inbox.get()
                await lanes.submit(self._delivery(offset), lambda done=offset: group.done.add(done))  # type: ignore[misc]
        finally:
            group.members.remove(member)
            await lanes.drain(STOP_S)
            group.homes = {key: by for key, by in group.homes.items() if by is not member}
            group.taken = {offset: by for offset, by in group.taken.items() if by is not member}
            self._assign_all(group)

    def _assign_all(self, group: Group) -> None:
        for offset in range(len(self.records)):
            self._assign(group, offset)

    def _assign(self, group: Group, offset: int) -> None:
        record = self.records[offset]
        open_ = record.topic in group.topics and offset not in group.done and offset not in group.taken
        if open_ and group.members:
            key = record.key or b""
            member = group.homes.setdefault(key, group.members[crc32(key) % len(group.members)])
            group.taken[offset] = member
            member.inbox.put_nowait(offset)

    def _delivery(self, offset: int) -> Delivery:
        record = self.records[offset]
        place: Partition = (record.topic, 0)
        now_ms = round(time.time() * 1000)
        return Delivery(*place, offset, record.key, record.value, record.headers, now_ms)


class MemoryPublisher(Publisher):
    """Puts records on a `MemoryLog`."""

    def __init__(self, log: MemoryLog) -> None:
        super().__init__("nowhere:0")
        self._log = log

    async def answers(self) -> bool:
        """It always does."""
        return True

    async def publish_each(self, records: Sequence[Record]) -> list[Outcome]:
        """Every record is taken."""
        self._log.append(records)
        return [None] * len(records)
