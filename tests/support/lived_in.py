"""A deployment that has lived through the demo's world: its database, its blobs, and the settings to open it again.

The world is played once a session of tests, by the process that asks first. It is kept in a folder (a dump of the
database and the deployment's home); every process loads it into its own Postgres once, and copies are made from there.
"""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psycopg

from deploy.local import Endpoints
from services.core.app import App
from services.core.clock import random_id
from services.core.db import fetch_one
from services.core.settings import Settings
from services.demo.clock import SteppingClock
from services.demo.director import demo_settings, play
from services.demo.world import SentReply, World, ZoneResolver, make_world
from services.operations.backup import postgres
from services.operations.idle import until_idle
from services.operations.outreach import by_person
from services.operations.threads import requests
from services.operations.threads.listing import list_threads
from services.operations.webhooks.endpoints import Wanted, add_endpoint, remove_endpoint
from services.operations.webhooks.requests import send_test
from services.receive_email.accept import accept
from tests.support.alert_receiver import receiving
from tests.support.app import settings_for
from tests.support.brokerless import running_brokerless
from tests.support.documents import shelve
from tests.support.letters import letter
from tests.support.stack import create_database, fresh_database

SEED = 11
TEMPLATE = "lived_in"
# So that events of every kind happen: deadlines, alerts, an incident of one customer's words, and webhooks.
EVENTFUL: dict[str, Any] = {
    "service_levels": {"normal": {"first_response_hours": 4, "next_response_hours": 8, "resolution_hours": 40}},
    "alerts": {"to": [{"mail": "people@tellme.example"}], "gather_s": 0},
    "incidents": {"customers": 1},
    "outgoing_webhooks": {"private_hosts": True},
}


@contextmanager
def lived_in_copy(stack: Endpoints, home: Path, kept: Path) -> Iterator[Settings]:
    """The settings of a copy, with its files in `home`; `kept` is the folder of what `keep_lived_in` kept."""
    shutil.copytree(kept / "home", home, dirs_exist_ok=True)
    with fresh_database(stack.database, template=TEMPLATE) as url:
        yield _settings(stack, url, home, eventful=True)


async def keep_lived_in(stack: Endpoints, template: str, kept: Path) -> None:
    """Have the world, played by whichever process comes first, in the folder `kept` and in this stack's `TEMPLATE`."""
    os.makedirs(kept, exist_ok=True)
    with (kept / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        dump = kept / "database.dump"
        if not dump.exists():
            await _keep(stack, template, kept)
    create_database(stack.database, TEMPLATE)
    postgres.load(urlsplit(stack.database)._replace(path=f"/{TEMPLATE}").geturl(), dump)


async def live_through(world: World, app: App, clock: SteppingClock) -> None:
    """The documents of a world, then each of its mails in its own time."""
    for document in world.documents:
        await shelve(app, f"{document.slug}.md", document.text)
    await until_idle(app)
    replies: dict[str, SentReply] = {}
    for mail in world.mails:
        await play(app, clock, mail, replies)


async def play_world(stack: Endpoints, url: str, home: Path, *, eventful: bool) -> Settings:
    """Play the world in the database at `url`; the settings to open the deployment again. Eventful: people act, too."""
    world = make_world(SEED)
    clock = SteppingClock(world.mails[0].received_at)
    settings = _settings(stack, url, home, eventful=eventful)
    async with running_brokerless(settings, resolver=ZoneResolver(world.dns_zone), now=clock) as app:
        await live_through(world, app, clock)
        if eventful:
            async with receiving() as hook:
                made = await add_endpoint(app, Wanted(hook.url), by="grace")
                await _people_act(app)
                await send_test(app, made.endpoint.endpoint_id, by="grace", timeout_s=60)
                await remove_endpoint(app, made.endpoint.endpoint_id)
            await by_person(app, random_id(), lifted=False, by="grace", timeout_s=60)
        await until_idle(app)
    return settings


async def _keep(stack: Endpoints, template: str, kept: Path) -> None:
    """Play the world; the dump appears under its name when it is whole."""
    shutil.rmtree(kept / "home", ignore_errors=True)
    with fresh_database(stack.database, template=template) as url:
        await play_world(stack, url, kept / "home", eventful=True)
        unfinished = kept / "database.unfinished"
        with psycopg.connect(url) as connection:
            [snapshot] = connection.execute("SELECT pg_export_snapshot()").fetchone() or ("",)
            postgres.dump(url, unfinished, snapshot=snapshot, without=())
        unfinished.rename(kept / "database.dump")


def _settings(stack: Endpoints, url: str, home: Path, *, eventful: bool) -> Settings:
    inboxes = [one.model_dump() for one in demo_settings(make_world(SEED), stack, home).inboxes]
    prefix, further = ("eventful.", EVENTFUL) if eventful else ("quiet.", {})
    return settings_for(stack, url, prefix, home, inboxes=inboxes, **further)


async def _people_act(app: App) -> None:
    """A colleague answers the newest thread by hand; another one marks it."""
    async with app.database.reading() as conn:
        newest = (await list_threads(conn, app.settings.workspace, limit=1))[0].thread_id
        mail = await fetch_one(
            conn,
            "SELECT inbox, message_id, author_addr FROM mails WHERE thread_id = %(id)s ORDER BY received_at DESC",
            {"id": newest},
        )
    assert mail is not None
    inbox = app.settings.inbox(mail["inbox"])
    reply = letter(
        "Hand the parcel to any shop of the carrier, with the return number on it; we pay for it.",
        sender=inbox.address, to=mail["author_addr"], message_id="<by-hand@laptop.local>",
        in_reply_to=f"<{mail['message_id']}>", date=app.now(),
    )  # fmt: skip
    await accept(app, inbox, reply, source="imap", source_key="by-hand", from_sent=True)
    await until_idle(app)
    await requests.mark(app, newest, priority="high", add_tags=("vip",), note="Call her.", by="grace", timeout_s=60)
