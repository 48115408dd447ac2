"""The model is away for an hour, or its key is revoked for a while: a thing that lasts, not a number of bad answers."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable
from datetime import timedelta

from tests.chaos.meeting import meeting
from tests.chaos.schedule import Fault
from tests.chaos.world import World
from tests.support.scripted_replies import Behaviour, cut_connection, failing, hang, overloaded

HOUR = timedelta(hours=1)
STEPS = 12
LONGEST_PAUSE = timedelta(minutes=5)  # between two probes of a circuit
MEETS_S = 900.0  # how much longer it lasts where nobody has asked yet
WAYS: dict[str, Callable[[], Behaviour]] = {
    "overloaded": overloaded,
    "server error": lambda: failing(503),
    "silent": hang,
    "cut": cut_connection,
}


async def outage(world: World, fault: Fault, dice: random.Random) -> None:
    """Nobody is answered for an hour of the run's own time, which passes in steps while processes look for the end."""
    async with world.busy("model"):
        before = world.model.turned_away
        world.model.away = WAYS[fault.target]()
        try:
            for _ in range(STEPS):
                await asyncio.sleep(fault.lasts_s / STEPS)
                world.levers.let_pass(HOUR / STEPS)
            await _until_met(world, before)
        finally:
            world.model.away = None
            world.levers.let_pass(LONGEST_PAUSE)


async def revoked(world: World, fault: Fault, _: random.Random) -> None:
    """The key is good for nothing for a while, and then good again.

    After an outage whose probes have made the pause long, each process would wait for that long here.
    """
    async with world.busy("model"):
        before = world.model.turned_away
        world.model.keys = set()
        try:
            await asyncio.sleep(fault.lasts_s)
            await _until_met(world, before)
        finally:
            world.model.keys = None
            world.levers.let_pass(LONGEST_PAUSE)


async def _until_met(world: World, before: int) -> None:
    """A fault that no question met would prove nothing."""
    async with meeting(MEETS_S):
        while world.model.turned_away == before:
            await asyncio.sleep(0.2)
