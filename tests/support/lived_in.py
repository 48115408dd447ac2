"""A house that has lived through the demo's world: its database, its blobs, and the settings to open it again."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from deploy.local import Endpoints
from services.core.house import House
from services.core.settings import Settings
from services.tools.demo.clock import SteppingClock
from services.tools.demo.director import demo_settings
from services.tools.demo.playing import play
from services.tools.demo.world import SentReply, World, ZoneResolver, make_world
from services.tools.settle import settle
from tests.support.brokerless import running_brokerless
from tests.support.documents import shelve
from tests.support.house import settings_for
from tests.support.stack import fresh_database

Then = Callable[[House], Awaitable[None]]


async def _nothing(house: House) -> None:
    """The story ends with the world's last mail."""


@asynccontextmanager
async def lived_through(
    stack: Endpoints, template: str, home: Path, seed: int = 11, *, then: Then = _nothing, **changes: Any
) -> AsyncIterator[Settings]:
    """The settings of a house in which every mail of the world of `seed` has come to its end; nobody is at work.

    `then` is what happened in it afterwards; `changes` are put over the settings.
    """
    world = make_world(seed)
    inboxes = [one.model_dump() for one in demo_settings(world, stack, home).inboxes]
    with fresh_database(stack.database, template=template) as url:
        settings = settings_for(stack, url, f"life-{random.randbytes(4).hex()}.", home, inboxes=inboxes, **changes)
        clock = SteppingClock(world.mails[0].received_at)
        async with running_brokerless(settings, resolver=ZoneResolver(world.dns_zone), now=clock) as house:
            await _live_through(world, house, clock)
            await then(house)
            await settle(house)
        yield settings


async def _live_through(world: World, house: House, clock: SteppingClock) -> None:
    for document in world.documents:
        await shelve(house, f"{document.slug}.md", document.text)
    await settle(house)
    replies: dict[str, SentReply] = {}
    for mail in world.mails:
        await play(house, clock, mail, replies)
