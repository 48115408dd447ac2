"""The Sent folder on a real IMAP server: our copy in it, and what it says of a reply that nobody knows about."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from deploy.local import Endpoints
from schemas.events.replies import DeliverySettled
from services.cli import deliveries
from services.cli.deliveries import settlement as settle_delivery
from services.core.app import App
from services.core.bus.envelope import Envelope, first
from services.core.bus.event_row import EventRow
from services.core.bus.runner import Runner, enter
from services.core.clock import utc_now
from services.core.db import fetch_all
from services.core.retries import SENT_COPY
from services.core.settings import Settings
from services.demo.clock import SteppingClock
from services.mail.imap import NoSentFolder, login, sent_folder
from services.mail.imap import enter as enter_imap
from services.operations.deliveries import NothingToSettle
from services.operations.idle import until_idle
from services.receive_email.accept import accept
from services.send_email import PROCESSOR
from tests.support.app import INBOX, settings_for
from tests.support.brokerless import WITHOUT_WEB, running_brokerless, working_brokerless
from tests.support.bus import PATIENCE_S
from tests.support.crashing_sender import APPROVED, DRAFTED, SENT, crash
from tests.support.dovecot import Dovecot, running_dovecot
from tests.support.letters import letter
from tests.support.smtp_server import DROP, Session, SmtpServer, Step

pytestmark = pytest.mark.dovecot


@pytest.fixture(scope="module")
def dovecot() -> Iterator[Dovecot]:
    with running_dovecot() as server:
        yield server


def shop(stack: Endpoints, database: str, prefix: str, home: Path, imap: Any, smtp_port: int) -> Settings:
    inbox = {**INBOX, "vouched_by": "the test", "imap": imap.model_dump(), "smtp": {"port": smtp_port, "timeout_s": 5}}
    return settings_for(stack, database, prefix, home, inboxes=[inbox])


async def ask(app: App) -> None:
    await let_in(app)
    await until_idle(app)


async def let_in(app: App) -> None:
    raw = letter("What does the Team plan cost?", sender="Pat <pat@sent.example>")
    await accept(app, app.settings.inboxes[0], raw, source="file", source_key="1")


async def stored(app: App, kind: str) -> Envelope:
    """Wait for the one event of a type."""
    async with asyncio.timeout(PATIENCE_S):
        while not (found := await rows(app, "SELECT * FROM events WHERE type = %(kind)s", kind=kind)):
            await asyncio.sleep(0.05)
    return EventRow.of(**found[0]).envelope()


async def forward(app: App, clock: SteppingClock, by: timedelta) -> None:
    """Let time pass, and the timers that come due be done."""
    clock.forward(clock() + by + timedelta(seconds=1))
    await until_idle(app)


def _given(app: App) -> Any:
    """Stands in for `app_here`: commands talk to this deployment."""

    @asynccontextmanager
    async def this_app(home: Path, **_: object) -> AsyncIterator[App]:
        yield app

    return this_app


async def rows(app: App, query: str, **args: Any) -> list[dict[str, Any]]:
    async with app.database.reading() as conn:
        return await fetch_all(conn, query, args)


def copies(dovecot: Dovecot, user: str, folder: str = "Sent") -> list[bytes]:
    """What lies in a folder of the user, as bytes with CRLF."""
    maildir = dovecot.maildir(user, folder)
    files = [file for part in ("new", "cur") for file in (maildir / part).iterdir()]
    return [file.read_bytes().replace(b"\r\n", b"\n").replace(b"\n", b"\r\n") for file in files]


async def test_a_sent_reply_lies_in_sent_with_the_same_bytes(
    dovecot: Dovecot, stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path
) -> None:
    """The copy is put there after the server took the mail: one, with its Message-ID, marked as read."""
    dovecot.maildir("emil", "Sent")
    async with SmtpServer() as server:
        settings = shop(stack, database, topic_prefix, tmp_path, dovecot.imap("emil"), server.port)
        async with running_brokerless(settings) as app:
            await ask(app)
    assert copies(dovecot, "emil") == [server.accepted[0].raw]
    assert [file.name.rpartition("2,")[2] for file in (dovecot.maildir("emil", "Sent") / "cur").iterdir()] == ["S"]


COPY = "SELECT state, sent_copy, copy_attempt, copy_detail FROM deliveries ORDER BY created_at"
MISSED = "SELECT data FROM events WHERE type = 'reply.not_copied.v1' ORDER BY seq"


async def test_a_copy_that_failed_was_never_tried_again(
    dovecot: Dovecot, stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path
) -> None:
    """The reply counts as sent at once; its copy comes into Sent when the folder is there again, and the mail goes once."""
    imap, clock = dovecot.imap("late", sent_folder="Archive"), SteppingClock(utc_now())
    async with SmtpServer() as server:
        settings = shop(stack, database, topic_prefix, tmp_path, imap, server.port)
        async with running_brokerless(settings, now=clock) as app:
            await ask(app)
            (row,) = await rows(app, COPY)
            assert (row["state"], row["sent_copy"], row["copy_attempt"]) == ("sent", "waiting", 1)
            assert [one["outcome"] for one in await rows(app, "SELECT outcome FROM turns")] == ["sent"]
            await forward(app, clock, timedelta(minutes=2))
            assert [one["copy_attempt"] for one in await rows(app, COPY)] == [2]
            dovecot.maildir("late", "Archive")
            await forward(app, clock, timedelta(minutes=10))
            (row,) = await rows(app, COPY)
    assert (row["state"], row["sent_copy"], row["copy_attempt"], row["copy_detail"]) == ("sent", "kept", 3, "")
    assert copies(dovecot, "late", "Archive") == [server.accepted[0].raw]
    assert len(server.accepted) == server.steps["data"] == 1


async def test_a_copy_is_given_up_after_days_and_that_is_shown(
    dovecot: Dovecot,
    stack: Endpoints,
    database: str,
    topic_prefix: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """After more than three days nothing is tried any more, and `correspondent deliveries` says so."""
    imap, clock = dovecot.imap("never", sent_folder="There/Is/None"), SteppingClock(utc_now())
    began = clock()
    async with SmtpServer() as server:
        settings = shop(stack, database, topic_prefix, tmp_path, imap, server.port)
        async with running_brokerless(settings, now=clock) as app:
            await ask(app)
            for after in SENT_COPY.steps:
                assert [row["sent_copy"] for row in await rows(app, COPY)] == ["waiting"]
                await forward(app, clock, after)
            (row,) = await rows(app, COPY)
            missed = await rows(app, MISSED)
            monkeypatch.setattr(deliveries, "app_here", _given(app))
            await deliveries.show_ledger(tmp_path, "", 50)
    assert (row["state"], row["sent_copy"]) == ("sent", "missing")
    assert [one["data"]["attempt"] for one in missed] == list(range(1, len(SENT_COPY.steps) + 2))
    assert clock() - began > timedelta(days=3)
    assert len(server.accepted) == 1
    assert "no copy in Sent, given up" in " ".join(capsys.readouterr().out.split())


async def test_a_sent_folder_that_hangs_holds_up_no_reply(
    dovecot: Dovecot, stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path
) -> None:
    """Where the folder failed a moment ago, the copies of further replies wait without asking it."""
    imap = dovecot.imap("away", sent_folder="There/Is/None")
    async with SmtpServer() as server:
        settings = shop(stack, database, topic_prefix, tmp_path, imap, server.port)
        async with running_brokerless(settings) as app:
            await ask(app)
            for number in (2, 3):
                raw = letter("What does it cost?", sender=f"Pat{number} <pat{number}@sent.example>",
                             message_id=f"<m{number}@sent.example>")  # fmt: skip
                await accept(app, settings.inboxes[0], raw, source="file", source_key=str(number))
                await until_idle(app)
            missed = await rows(app, MISSED)
    assert [one["data"]["tried_at"] is None for one in missed] == [False, True, True]
    assert "failed a moment ago" in missed[1]["data"]["error"]
    assert len(server.accepted) == 3


@pytest.mark.slow
@pytest.mark.parametrize("point", ["before-append", "after-append"])
async def test_a_sender_killed_around_the_append_keeps_one_copy(
    dovecot: Dovecot, stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path, point: str
) -> None:
    """A copy that a dead process put there is found, and not put there again; one that it did not is put there."""
    dovecot.maildir(point, "Sent")
    async with SmtpServer() as server:
        settings = shop(stack, database, topic_prefix, tmp_path, dovecot.imap(point), server.port)
        async with running_brokerless(settings, tuple(name for name in WITHOUT_WEB if name != "send_email")) as app:
            await let_in(app)
            sender = Runner(PROCESSOR, app)
            for kind in (DRAFTED, APPROVED):
                await sender.process(await stored(app, kind))
            await crash(settings, point, (await stored(app, SENT)).id)
            assert len(copies(dovecot, point)) == int(point == "after-append")
            async with working_brokerless(app, ["send_email"]):
                await until_idle(app)
            (row,) = await rows(app, COPY)
    assert (row["state"], row["sent_copy"]) == ("sent", "kept")
    assert copies(dovecot, point) == [server.accepted[0].raw]
    assert len(server.accepted) == 1


@pytest.mark.parametrize("kept", [True, False], ids=["the-provider-kept-a-copy", "no-copy"])
async def test_an_unknown_reply_is_settled_by_its_copy_in_sent(
    dovecot: Dovecot, stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path, kept: bool
) -> None:
    """Its Message-ID in Sent proves that it went out; without a copy it stays unknown. It is repeated in neither case."""
    user = f"unknown{int(kept)}"
    dovecot.maildir(user, "Sent")

    def script(session: Session, step: Step) -> str | None:
        return DROP if step == "accepted" else None

    clock = SteppingClock(utc_now())
    async with SmtpServer(script) as server:
        settings = shop(stack, database, topic_prefix, tmp_path, dovecot.imap(user), server.port)
        async with running_brokerless(settings, now=clock) as app:
            await ask(app)
            assert [row["state"] for row in await rows(app, "SELECT state FROM deliveries")] == ["unknown"]
            if kept:
                dovecot.deliver(user, server.accepted[0].raw, folder="Sent")
            for _ in range(4):
                clock.forward(clock() + timedelta(hours=1))
                await until_idle(app)
            found = await rows(app, "SELECT state, detail FROM deliveries")
            said = await rows(app, "SELECT role FROM conversation ORDER BY version")
    assert found[0]["state"] == ("sent" if kept else "unknown")
    assert not kept or found[0]["detail"] == "found in the Sent folder"
    assert [row["role"] for row in said] == ["customer", "agent"][: 1 + kept]
    assert len(server.accepted) == server.steps["data"] == 1


@pytest.mark.parametrize("was_sent", [True, False])
async def test_a_person_settles_what_is_unknown_once(
    stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path, was_sent: bool
) -> None:
    """The first word stands, a second and contrary one changes nothing, and nothing is sent again."""

    def script(session: Session, step: Step) -> str | None:
        return DROP if step == "dot" else None

    async with SmtpServer(script) as server:
        inbox = {**INBOX, "vouched_by": "the test", "smtp": {"port": server.port}}
        settings = settings_for(stack, database, topic_prefix, tmp_path, inboxes=[inbox])
        async with running_brokerless(settings) as app:
            await ask(app)
            row = (await rows(app, "SELECT reply_id, thread_id FROM deliveries"))[0]
            for word in (was_sent, not was_sent):
                settled = DeliverySettled(**row, sent=word, reason="I asked", by="grace")
                workspace = settings.workspace
                await enter(app, first(settled, id=uuid4(), source="console", time=app.now(), workspace=workspace))
                await until_idle(app)
            found = await rows(app, "SELECT state, detail FROM deliveries")
    assert found[0]["state"] == ("sent" if was_sent else "failed")
    assert found[0]["detail"] == f"grace says that it was {'sent' if was_sent else 'not sent'}: I asked"
    assert server.steps["data"] == 1


async def test_the_sent_folder_is_found_by_its_name_or_refused_in_words(dovecot: Dovecot) -> None:
    """Where the server marks no folder, one with a usual name is taken; where there is none, the setting is named."""
    dovecot.maildir("gerd")
    imap = dovecot.imap("gerd")

    def look() -> str:
        with enter_imap(imap) as client:
            login(client, imap, "")
            return sent_folder(client, imap)

    with pytest.raises(NoSentFolder, match=r"inboxes\.imap\.sent_folder"):
        await asyncio.to_thread(look)
    dovecot.maildir("gerd", "Sent Items")
    assert await asyncio.to_thread(look) == "Sent Items"


async def test_the_command_settles_a_reply_by_the_beginning_of_its_id(
    stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`correspondent deliveries settle` ends what is unknown, and refuses in words what is not."""

    def script(session: Session, step: Step) -> str | None:
        return DROP if step == "dot" else None

    async with SmtpServer(script) as server:
        inbox = {**INBOX, "vouched_by": "the test", "smtp": {"port": server.port}}
        settings = settings_for(stack, database, topic_prefix, tmp_path, inboxes=[inbox])
        async with running_brokerless(settings) as app:
            await ask(app)
            row = (await rows(app, "SELECT reply_id FROM deliveries"))[0]
            typed = str(row["reply_id"])[:8]

            monkeypatch.setattr(settle_delivery, "app_here", _given(app))
            await settle_delivery.settle_reply(tmp_path, typed, sent=True, reason="I asked", by="grace")
            assert [one["state"] for one in await rows(app, "SELECT state FROM deliveries")] == ["sent"]
            with pytest.raises(NothingToSettle, match="is sent"):
                await settle_delivery.settle_reply(tmp_path, typed, sent=False, reason="", by="grace")
