"""Puts records on the log, whatever else is going on."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from services.core.bus.delivery import Record
from services.core.bus.publisher import LogRefused
from services.core.errors import Temporary
from tests.chaos.world import World

AGAIN_AFTER_S = 0.5


async def put(world: World, records: Sequence[Record]) -> None:
    """Publish the records; a broker that is away, or refuses their topic for now, is tried again."""
    while True:
        try:
            return await world.app.publisher.publish(records)
        except (Temporary, LogRefused):
            await asyncio.sleep(AGAIN_AFTER_S)


async def renew(world: World) -> None:
    """Have our own producer be a new one, as every process does that hears of a lost log."""
    while True:
        try:
            return await world.app.publisher.renew()
        except Temporary:
            await asyncio.sleep(AGAIN_AFTER_S)
