"""Helpers for tests on a real broker: a desk that consumes through lanes, a publisher, patience.

Both brokers get what suits them: the embedded one lets a group wait for half its session and knows no idempotence.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager

from services.core.bus.delivery import Delivery, Record
from services.core.bus.faust_source import FaustSource, SourceSettings
from services.core.bus.lanes import LaneLimits, Lanes
from services.core.bus.publisher import Publisher
from services.core.bus.topics_admin import lag
from tests.support.stack import uses_apache_kafka

PATIENCE_S = 450.0  # a busy machine takes minutes
POISON = b"poison"


def session_timeout_s() -> float:
    """The shortest session that is safe on the broker under test; 6 s is the least that Apache Kafka allows."""
    return 10 if uses_apache_kafka() else 6


def source_settings(brokers: str, group: str, topics: Sequence[str]) -> SourceSettings:
    """A group's settings on the broker under test."""
    return SourceSettings(brokers, group, tuple(topics), session_timeout_s=session_timeout_s())


@asynccontextmanager
async def publishing(brokers: str, *, timeout_s: float = 20) -> AsyncIterator[Publisher]:
    """A started publisher, idempotent where the broker can."""
    publisher = Publisher(brokers, idempotent=uses_apache_kafka(), timeout_s=timeout_s)
    await publisher.start()
    try:
        yield publisher
    finally:
        await publisher.stop()


async def fill(brokers: str, topic: str, values: Sequence[bytes], *, keys: int = 10) -> None:
    """Publish the values, in turn under each of `keys` keys."""
    async with publishing(brokers) as publisher:
        await publisher.publish([Record(topic, b"%d" % (n % keys), value) for n, value in enumerate(values)])


class Desk:
    """One consumer of a group; it keeps what it handled and what it gave up. The value `poison` fails."""

    def __init__(
        self, brokers: str, group: str, topics: Sequence[str], *, handling_s: float = 0.0, admitted: int = 32
    ) -> None:
        self.handled: list[Delivery] = []
        self.given_up: list[Delivery] = []
        self._handling_s = handling_s
        limits = LaneLimits(running=8, admitted=admitted, timeout_s=30)
        self.lanes = Lanes(self._handle, lane_of=lambda d: d.key, give_up=self._give_up, limits=limits)
        self.source = FaustSource(source_settings(brokers, group, topics), self.lanes)

    @property
    def values(self) -> list[bytes | None]:
        """The values handled, in order."""
        return [delivery.value for delivery in self.handled]

    async def _handle(self, delivery: Delivery) -> None:
        if delivery.value == POISON:
            raise ValueError("poison")
        await asyncio.sleep(self._handling_s)
        self.handled.append(delivery)

    async def _give_up(self, delivery: Delivery, error: BaseException, attempts: int) -> None:
        self.given_up.append(delivery)


@asynccontextmanager
async def at_work(*desks: Desk) -> AsyncIterator[None]:
    """The desks consume for the block, and leave their group at its end."""
    for desk in desks:
        await desk.source.start()
    try:
        yield
    finally:
        await asyncio.gather(*(desk.source.stop() for desk in desks))


async def until(done: Callable[[], bool]) -> None:
    """Wait until `done()`; TimeoutError in the end."""
    async with asyncio.timeout(PATIENCE_S):
        while not done():
            await asyncio.sleep(0.05)


async def until_true(done: Callable[[], Awaitable[bool]]) -> None:
    """Wait until `await done()`; TimeoutError in the end."""
    async with asyncio.timeout(PATIENCE_S):
        while not await done():
            await asyncio.sleep(0.1)


async def total_lag(brokers: str, group: str, topic: str) -> int:
    """How many records of the topic the group has not committed."""
    return sum((await lag(brokers, group, [topic])).values())
