"""What comes of customers meanwhile: mail of ours comes back from them, and some of them are erased.

Nobody is erased before all that they have to say, and what returns our mail to them, is read: who writes later is somebody new.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from email import message_from_bytes
from email.message import EmailMessage
from email.policy import default
from functools import partial
from typing import TypeVar

import httpx

from services.core.bus.retry import classify
from services.core.db import fetch_all
from services.operations.erase.proof import prove
from services.operations.erase.run import erase, finish
from services.operations.erase.words import Marks, marks
from tests.chaos.feeding import bring
from tests.chaos.meeting import meeting
from tests.chaos.schedule import Fault
from tests.chaos.traffic import Mail
from tests.chaos.world import World
from tests.flow.test_bounces import report, returned
from tests.support.app import INBOX
from tests.support.erasing import found
from tests.support.smtp_server import Kept

T = TypeVar("T")

AGAIN_AFTER_S = 0.5
SOMEBODY_S = 300.0
READ = "SELECT message_id FROM mails"
GONE_FOR_GOOD = "5.1.1"


async def bounce(world: World, fault: Fault, dice: random.Random) -> None:
    """A server returns some of our mails for good: nobody there has such an address."""
    url = f"http://{world.app.settings.web.host}:{world.app.settings.web.port}"
    async with httpx.AsyncClient(base_url=url, timeout=15) as client:
        for _ in range(fault.count):
            async with world.busy("customers"):
                async with meeting(SOMEBODY_S):
                    ours = await _one_of(lambda: _arrived(world), dice)
                mail = _returned(ours)
                world.mails.append(mail)
                await bring(client, mail, world.levers)


async def forget(world: World, fault: Fault, dice: random.Random) -> None:
    """Customers who have nothing more to say are erased, while what they said is under way."""
    for _ in range(fault.count):
        async with world.busy("customers"):
            async with meeting(SOMEBODY_S):
                address = await _one_of(lambda: _silent(world), dice)
            survey = await _until_done(partial(found, world.app, address))
            await _until_done(partial(erase, world.app, survey, by="grace"))
            world.erased[address] = survey


async def traces(world: World) -> tuple[str, ...]:
    """What is left of those who were erased, in whatever store: rows by their ids, and their addresses, names and Message-IDs."""
    await _until_done(partial(finish, world.app, world.app.settings.workspace))
    left: set[str] = set()
    for address, survey in world.erased.items():
        named = Marks(marks({address, *survey.addresses}, survey.names, survey.message_ids, ()).phrases, frozenset())
        proof = await _until_done(partial(prove, world.app, named, survey.people))
        left |= {f"{one.word} of {address} stands in {one.place}" for one in proof.findings}
    return tuple(sorted(left))


async def _arrived(world: World) -> list[Kept]:
    """Our mails to customers of whom none has come back."""
    spared = {mail.about for mail in world.mails if mail.about != mail.sender} | world.erased.keys()
    return [one for one in world.server.accepted if one.recipient not in spared]


async def _silent(world: World) -> list[str]:
    """The customers of whom everything that is ever offered has been read."""
    async with world.app.database.reading() as conn:
        read = {row["message_id"] for row in await fetch_all(conn, READ)}
    missing = {mail.about for mail in world.mails if mail.message_id not in read}
    return sorted({mail.about for mail in world.mails} - missing - world.erased.keys())


def _returned(ours: Kept) -> Mail:
    """A delivery status notification about a mail of ours."""
    mail = message_from_bytes(ours.raw, policy=default)
    assert isinstance(mail, EmailMessage)
    domain = INBOX["address"].partition("@")[2]
    raw = report(domain, ours.recipient, returned(mail), "failed", GONE_FOR_GOOD)
    back = message_from_bytes(raw, policy=default)
    id = str(back["Message-ID"]).strip("<>")
    return Mail(f"back-{id}", id, back["From"].addresses[0].addr_spec, raw, ours.recipient)


async def _one_of(some: Callable[[], Awaitable[list[T]]], dice: random.Random) -> T:
    """One of those that there are, as soon as there are any."""
    while not (found := await _until_done(some)):
        await asyncio.sleep(AGAIN_AFTER_S)
    return dice.choice(found)


async def _until_done(what: Callable[[], Awaitable[T]]) -> T:
    """What it gives, tried again while what it needs is away."""
    while True:
        try:
            return await what()
        except Exception as error:
            if classify(error) == "permanent":
                raise
            await asyncio.sleep(AGAIN_AFTER_S)
