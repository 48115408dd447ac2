"""An inbox is read from a real IMAP server: every new mail once, whatever breaks in between."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from deploy.local import Endpoints
from services.core.app import App
from services.core.settings import ImapSettings, InboxSettings, Settings
from services.receive_email import EDGE
from services.receive_email.imap import positions
from services.receive_email.imap.folder import FolderPlace
from tests.support.dovecot import PASSWORD, Dovecot, running_dovecot
from tests.support.imap import eventually, letter, on_the_log, receiving_app, settings_for, stored

pytestmark = pytest.mark.dovecot


@pytest.fixture(scope="module")
def dovecot() -> Iterator[Dovecot]:
    with running_dovecot() as server:
        yield server


@pytest.fixture
def user(topic_prefix: str) -> str:
    return f"user-{topic_prefix.strip('.')}"


@pytest.fixture
def imap(dovecot: Dovecot, user: str) -> ImapSettings:
    dovecot.maildir(user)
    return dovecot.imap(user)


@pytest.fixture
def settings(stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path, imap: ImapSettings) -> Settings:
    inbox = InboxSettings(name="support", address="support@shop.example", imap=imap)
    return settings_for(stack, database, topic_prefix, tmp_path / "home", inboxes=(inbox,))


@pytest.fixture
async def app(settings: Settings) -> AsyncIterator[App]:
    async with receiving_app(settings) as opened:
        yield opened


@asynccontextmanager
async def watching(app: App) -> AsyncIterator[None]:
    """The edge at work."""
    stop = asyncio.Event()
    work = asyncio.create_task(EDGE.run(app, stop))
    try:
        yield
    finally:
        stop.set()
        await asyncio.wait_for(work, 120)


def place_of(app: App) -> FolderPlace:
    inbox = app.settings.inboxes[0]
    assert inbox.imap is not None
    return FolderPlace(app, inbox, inbox.imap)


async def opened(app: App) -> None:
    async def has_position() -> bool:
        return await positions.load(place_of(app)) is not None

    await eventually(has_position, "the inbox was opened")


async def received(app: App, count: int) -> None:
    async def enough() -> bool:
        async with app.database.reading() as conn:
            row = await (
                await conn.execute("SELECT count(*) AS n FROM events WHERE id NOT IN (SELECT event_id FROM outbox)")
            ).fetchone()
        assert row is not None
        return int(row["n"]) >= count

    await eventually(enough, f"{count} mails came in")


async def test_it_starts_at_the_newest_mail(app: App, settings: Settings, dovecot: Dovecot, user: str) -> None:
    """Mail that lay in the folder before the inbox was added stays there; the first one after it comes."""
    for number in range(3):
        dovecot.deliver(user, letter(f"old-{number}"))
    async with watching(app):
        await opened(app)
        raw = letter("new")
        dovecot.deliver(user, raw)
        await received(app, 1)
    (event,) = await stored(app)
    assert await app.blobs.get(event.blob) == raw
    assert (event.source, event.mode, event.vouched_by) == ("imap", "live", "")


async def test_no_flag_is_touched(app: App, dovecot: Dovecot, user: str) -> None:
    """Reading leaves a mail as unread as it was, and a mail that a person has read comes all the same."""
    async with watching(app):
        await opened(app)
        read = dovecot.deliver(user, letter("read"))
        read.rename(read.parent.parent / "cur" / f"{read.name}:2,S")
        dovecot.deliver(user, letter("unread"))
        await received(app, 2)
    assert dovecot.flags(user) == {"S"}
    assert len([file for file in (dovecot.maildir(user) / "cur").iterdir() if file.name.endswith("S")]) == 1


async def test_mail_arrives_while_idling(app: App, settings: Settings, dovecot: Dovecot, user: str) -> None:
    """One mail after the other wakes IDLE, long before the time at which it is issued again."""
    async with watching(app):
        await opened(app)
        for number in range(5):
            dovecot.deliver(user, letter(number))
            await received(app, number + 1)
    assert len(await on_the_log(settings, 5)) == 5


async def test_a_burst_loses_none(app: App, settings: Settings, dovecot: Dovecot, user: str) -> None:
    """Mails that arrive while others are being fetched are fetched too, each once."""
    async with watching(app):
        await opened(app)
        for number in range(120):
            dovecot.deliver(user, letter(number))
            if number % 10 == 0:
                await asyncio.sleep(0.02)
        await received(app, 120)
    events = await stored(app)
    assert len({one.source_key for one in events}) == len(events) == 120
    assert len(await on_the_log(settings, 120)) == 120


async def test_the_server_restarts_in_the_midst_of_idle(app: App, dovecot: Dovecot, user: str) -> None:
    """BYE ends the connection; what was delivered meanwhile is found by the next one."""
    async with watching(app):
        await opened(app)
        dovecot.deliver(user, letter(1))
        await received(app, 1)
        dovecot.stop()
        dovecot.deliver(user, letter(2))
        await asyncio.sleep(0.5)
        dovecot.start()
        await received(app, 2)
    assert len(await stored(app)) == 2


async def test_a_restart_of_ours_repeats_nothing(app: App, settings: Settings, dovecot: Dovecot, user: str) -> None:
    """A second process goes on at the checkpoint, and finds what came while none was running."""
    async with watching(app):
        await opened(app)
        dovecot.deliver(user, letter(1))
        await received(app, 1)
    dovecot.deliver(user, letter(2))
    async with watching(app):
        await received(app, 2)
    assert len(await on_the_log(settings, 2)) == 2


async def test_uidvalidity_changes(app: App, settings: Settings, dovecot: Dovecot, user: str) -> None:
    """After a restore with new UIDs nothing comes twice, nothing from before the beginning, and nothing is missed."""
    old = dovecot.deliver(user, letter("old"))
    os.utime(old, (1_600_000_000, 1_600_000_000))
    async with watching(app):
        await opened(app)
        dovecot.deliver(user, letter(1))
        dovecot.deliver(user, letter(2))
        await received(app, 2)
    before = await positions.load(place_of(app))
    dovecot.deliver(user, letter("meanwhile", date="Fri, 01 Jan 2100 10:00:00 +0000"))
    dovecot.deliver(user, letter("long ago", date="Mon, 01 Jan 2001 10:00:00 +0000"))
    dovecot.forget_uids(user)
    async with watching(app):
        await received(app, 4)
        dovecot.deliver(user, letter("after"))
        await received(app, 5)
    after = await positions.load(place_of(app))
    assert before is not None
    assert after is not None
    assert after.uidvalidity != before.uidvalidity
    assert after.begun_at == before.begun_at
    assert sorted(one.mode for one in await stored(app)) == ["history"] + ["live"] * 4
    assert len(await on_the_log(settings, 5)) == 5


KILLED_AT_THE_CHECKPOINT = """
import asyncio, os, signal, sys
from services.core.app import open_app
from services.core.settings import Settings
from services.receive_email import EDGE
from services.receive_email.imap import positions

async def die(place, position):
    os.kill(os.getpid(), signal.SIGKILL)

async def main():
    async with open_app(Settings.model_validate_json(sys.stdin.read())) as deployment:
        await EDGE.run(deployment, asyncio.Event())

positions.move = die
asyncio.run(main())
"""


async def test_killed_between_fetch_and_checkpoint(app: App, settings: Settings, dovecot: Dovecot, user: str) -> None:
    """A process that dies when the events are on the log and the checkpoint is not yet moved repeats no event."""
    async with watching(app):
        await opened(app)
    for number in range(3):
        dovecot.deliver(user, letter(number))
    for _ in range(2):
        died = await asyncio.to_thread(
            subprocess.run,
            [sys.executable, "-c", KILLED_AT_THE_CHECKPOINT],
            input=with_secrets(settings),
            text=True,
            timeout=60,
            check=False,
        )
        assert died.returncode == -signal.SIGKILL
    position = await positions.load(place_of(app))
    assert position is not None
    assert position.last_uid == 0
    assert len(await stored(app)) == 3
    async with watching(app):
        dovecot.deliver(user, letter(3))
        await received(app, 4)
    ids = [one["ce_id"] for one in await on_the_log(settings, 4)]
    assert len(ids) == len(set(ids)) == 4


def with_secrets(settings: Settings) -> str:
    """The settings as JSON, passwords included, for another process of the test."""
    given = settings.model_dump(mode="json", include={"home", "database_url", "redis_url", "kafka", "inboxes"})
    given["inboxes"][0]["imap"]["password"] = PASSWORD
    return json.dumps(given)
