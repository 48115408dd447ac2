"""Helpers for tests on a real broker: a desk that consumes through lanes, and patience."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from services.core.bus.delivery import Delivery
from services.core.bus.faust_source import FaustSource, SourceSettings
from services.core.bus.lanes import LaneLimits, Lanes

PATIENCE_S = 60.0


class Desk:
    """One consumer of a group; it keeps what it handled and what it gave up. The value `poison` fails."""

    def __init__(self, brokers: str, group: str, topics: Sequence[str], *, handling_s: float = 0.0) -> None:
        self.handled: list[Delivery] = []
        self.given_up: list[Delivery] = []
        self._handling_s = handling_s
        limits = LaneLimits(running=8, admitted=32, timeout_s=30)
        lanes = Lanes(self._handle, lane_of=lambda d: d.key, give_up=self._give_up, limits=limits)
        self.source = FaustSource(SourceSettings(brokers, group, tuple(topics), session_timeout_s=6), lanes)

    async def _handle(self, delivery: Delivery) -> None:
        if delivery.value == b"poison":
            raise ValueError("poison")
        await asyncio.sleep(self._handling_s)
        self.handled.append(delivery)

    async def _give_up(self, delivery: Delivery, error: BaseException, attempts: int) -> None:
        self.given_up.append(delivery)


async def until(done: Callable[[], bool]) -> None:
    """Wait until `done()`; TimeoutError after a minute."""
    async with asyncio.timeout(PATIENCE_S):
        while not done():
            await asyncio.sleep(0.05)
