"""Faults that would wait for each other for ever."""

from __future__ import annotations

import asyncio
import random
from typing import Any, cast

from tests.chaos.faults import shuffle
from tests.chaos.schedule import Fault
from tests.chaos.world import World


class Worker:
    """A process that says whether it was killed."""

    killed = False

    def kill(self) -> None:
        self.killed = True


async def test_a_reordering_kept_down_the_processor_whose_events_were_to_meet_a_refusal() -> None:
    """While a topic is refused nobody is killed for a reordering: it waits, and they go on making events."""
    worker = Worker()
    workers: Any = type("Workers", (), {"running": {"learn_facts": worker}})()
    nothing = cast(Any, None)
    world = World(nothing, nothing, {}, nothing, nothing, nothing, nothing, workers)
    async with world.busy("refusal"):
        waiting = asyncio.create_task(shuffle(world, Fault(0.0, "reorder", "learn_facts"), random.Random(1)))
        for _ in range(20):
            await asyncio.sleep(0)
        assert not worker.killed
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
