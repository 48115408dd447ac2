"""A worker process of a group, for tests that kill one: `python -m tests.support.bus_worker BROKERS GROUP TOPIC LOG`.

It appends a line to the file LOG after each record it has handled (`done PARTITION OFFSET KEY VALUE`) and after each
dead letter it has published (`dead ...`), before the offset can be committed. One file serves several workers.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from datetime import UTC, datetime
from pathlib import Path

from services.core.bus.dead_letters import make_dead_letter
from services.core.bus.delivery import Delivery
from services.core.bus.faust_source import FaustSource
from services.core.bus.lanes import LaneLimits, Lanes
from services.core.bus.publisher import Publisher
from tests.support.bus import POISON, publishing, source_settings

HANDLING_S = 0.05
AT = datetime(2026, 1, 1, tzinfo=UTC)


class Worker:
    """Handles records slowly enough to be interrupted."""

    def __init__(self, group: str, log: Path, publisher: Publisher) -> None:
        self._group, self._publisher = group, publisher
        self._log = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT)

    async def handle(self, delivery: Delivery) -> None:
        await asyncio.sleep(HANDLING_S)
        if delivery.value == POISON:
            raise ValueError("poison")
        self._note("done", delivery)

    async def give_up(self, delivery: Delivery, error: BaseException, attempts: int) -> None:
        dead_letter = make_dead_letter(delivery, group=self._group, error=error, attempts=attempts, at=AT)
        await self._publisher.publish([dead_letter])
        self._note("dead", delivery)

    def _note(self, what: str, delivery: Delivery) -> None:
        key, value = (delivery.key or b"").decode(), (delivery.value or b"").decode()
        os.write(self._log, f"{what} {delivery.partition} {delivery.offset} {key} {value}\n".encode())


async def work(brokers: str, group: str, topic: str, log: Path) -> None:
    """Consume until SIGTERM."""
    told = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, told.set)
    async with publishing(brokers) as publisher:
        worker = Worker(group, log, publisher)
        limits = LaneLimits(running=8, admitted=32, timeout_s=30)
        lanes = Lanes(worker.handle, lane_of=lambda d: d.key, give_up=worker.give_up, limits=limits)
        source = FaustSource(source_settings(brokers, group, [topic]), lanes)
        await source.start()
        await told.wait()
        await source.stop()


if __name__ == "__main__":
    asyncio.run(work(sys.argv[1], sys.argv[2], sys.argv[3], Path(sys.argv[4])))
