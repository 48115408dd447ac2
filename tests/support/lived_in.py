"""A deployment that has lived through the demo's world: its database, its blobs, and the settings to open it again."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from deploy.local import Endpoints
from services.core.app import App
from services.core.settings import Settings
from services.demo.clock import SteppingClock
from services.demo.director import demo_settings
from services.demo.playback import play
from services.demo.world import SentReply, World, ZoneResolver, make_world
from services.operations.settle import settle
from tests.support.app import settings_for
from tests.support.brokerless import running_brokerless
from tests.support.documents import shelve
from tests.support.stack import fresh_database

Then = Callable[[App], Awaitable[None]]


async def _nothing(app: App) -> None:
    """The story ends with the world's last mail."""


@asynccontextmanager
async def lived_through(
    stack: Endpoints, template: str, home: Path, seed: int = 11, *, then: Then = _nothing, **changes: Any
) -> AsyncIterator[Settings]:
    """The settings of a deployment in which every mail of the world of `seed` has come to its end; nobody is at work.

    `then` is what happened in it afterwards; `changes` are put over the settings.
    """
    world = make_world(seed)
    inboxes = [one.model_dump() for one in demo_settings(world, stack, home).inboxes]
    with fresh_database(stack.database, template=template) as url:
        settings = settings_for(stack, url, f"life-{random.randbytes(4).hex()}.", home, inboxes=inboxes, **changes)
        clock = SteppingClock(world.mails[0].received_at)
        async with running_brokerless(settings, resolver=ZoneResolver(world.dns_zone), now=clock) as app:
            await live_through(world, app, clock)
            await then(app)
            await settle(app)
        yield settings


async def live_through(world: World, app: App, clock: SteppingClock) -> None:
    """The documents of a world, then each of its mails in its own time."""
    for document in world.documents:
        await shelve(app, f"{document.slug}.md", document.text)
    await settle(app)
    replies: dict[str, SentReply] = {}
    for mail in world.mails:
        await play(app, clock, mail, replies)
