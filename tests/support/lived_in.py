"""A house that has lived through the demo's world: its database, its blobs, and the settings to open it again."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from deploy.local import Endpoints
from schemas.events.mail import Peer
from services.core.house import House
from services.core.settings import Settings
from services.receive_email.accept import accept
from services.tools.demo.aftermath import look
from services.tools.demo.clock import SteppingClock
from services.tools.demo.director import demo_settings
from services.tools.demo.world import Sent, SentReply, World, make_world
from services.tools.demo.zone import ZoneResolver
from services.tools.settle import settle
from tests.support.documents import shelve
from tests.support.house import running_house, settings_for
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
        async with running_house(settings, resolver=ZoneResolver(world.dns_zone), now=clock) as house:
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
        clock.forward(mail.received_at)
        inbox = next(one for one in house.settings.inboxes if one.address == mail.inbox)
        peer = Peer(ip="192.0.2.1", helo="mail.example", mail_from=mail.envelope_from)
        raw = mail.render(Sent(replies))
        accepted = await accept(house, inbox, raw, source="file", source_key=mail.key, peer=peer)
        await settle(house)
        came = await look(house, accepted.mail_id)
        if came.replies:
            replies[mail.key] = came.sent_reply(came.replies[-1])
