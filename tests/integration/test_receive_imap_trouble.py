"""An IMAP server that misbehaves stops nothing but what it cannot give."""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from structlog.testing import capture_logs

from deploy.local import Endpoints
from services.core.app import App
from services.core.db import fetch_all
from services.core.outages import mail_servers
from services.core.outages.mail_servers import mail_outages
from services.core.settings import ImapSettings, InboxSettings, OAuthSettings
from services.receive_email.imap import positions, session, watch, watch_inbox
from services.receive_email.imap.folder import FolderPlace
from services.receive_email.inboxes import watch_inboxes
from tests.support.imap import eventually, letter, receiving_app, settings_for, stored
from tests.support.proxy import FaultProxy
from tests.support.scripted_imap import ScriptedImap, scripted_imap
from tests.support.stack import fresh_database
from tests.support.webhook_senders import certificate, private_pem

INBOX = InboxSettings(name="support", address="support@shop.example")


@pytest.fixture(scope="module")
async def app(stack: Endpoints, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[App]:
    with fresh_database(stack.database) as database:
        home: Path = tmp_path_factory.mktemp("home")
        async with receiving_app(settings_for(stack, database, f"trouble-{home.name}.", home)) as opened:
            yield opened


@pytest.fixture(autouse=True)
async def clean(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watch, "reconnect_s", lambda last, lived: 0.02)
    async with app.database.reading() as conn:
        await conn.execute("TRUNCATE events, receipts, inbox_positions, unfetched_mails")


@asynccontextmanager
async def watching(app: App, imap: ImapSettings) -> AsyncIterator[None]:
    stop = asyncio.Event()
    work = asyncio.create_task(watch_inbox(app, INBOX, imap, stop))
    try:
        yield
    finally:
        stop.set()
        await asyncio.wait_for(work, 120)


async def opened(app: App, imap: ImapSettings) -> None:
    async def has_position() -> bool:
        return await positions.load(FolderPlace(app, INBOX, imap)) is not None

    await eventually(has_position, "the inbox was opened")


async def keys(app: App) -> list[str]:
    return [event.source_key for event in await stored(app)]


async def came(app: App, *uids: int, uidvalidity: int = 7) -> None:
    expected = {f"INBOX:{uidvalidity}:{uid}" for uid in uids}

    async def have() -> bool:
        async with app.database.reading() as conn:
            rows = await fetch_all(conn, "SELECT data FROM events WHERE id NOT IN (SELECT event_id FROM outbox)")
        return {row["data"]["source_key"] for row in rows} == expected

    await eventually(have, f"exactly {sorted(expected)} came")


async def unfetched(app: App) -> list[int]:
    async with app.database.reading() as conn:
        return [row["uid"] for row in await fetch_all(conn, "SELECT uid FROM unfetched_mails ORDER BY uid")]


@pytest.mark.parametrize("trouble", ["no", "nil", "bad date", "hang up", "silence"])
async def test_one_poisoned_mail_never_stops_the_folder(trouble: Any, app: App) -> None:
    """Whatever the server does with one mail, the others come, in order, and the one is noted."""
    async with scripted_imap() as server:
        imap = server.imap(timeout_s=0.4)
        async with watching(app, imap):
            await opened(app, imap)
            server.troubles[3] = trouble
            server.mails.update({uid: letter(uid) for uid in range(1, 6)})
            await came(app, 1, 2, 4, 5)
            await eventually(lambda: _is(unfetched(app), [3]), "the mail was noted")


async def _is(found: Any, expected: Any) -> bool:
    return bool(await found == expected)


async def test_a_mail_that_the_server_failed_once_waited_for_a_reconnect(
    app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What could not be had is asked for again on the same connection, after a pause, and the note is gone."""
    monkeypatch.setattr(positions, "FIRST_PAUSE_S", 0.3)
    async with scripted_imap(troubles={1: "no"}) as server:
        imap = server.imap()
        async with watching(app, imap):
            await opened(app, imap)
            server.mails.update({1: letter(1), 2: letter(2)})
            await came(app, 2)
            server.troubles.clear()
            await came(app, 1, 2)
            await eventually(lambda: _is(unfetched(app), []), "the note was gone")


async def test_a_mail_that_broke_its_connection_twice_was_never_asked_for_again(
    app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Once the server is mended it comes, in the same process."""
    monkeypatch.setattr(positions, "FIRST_PAUSE_S", 0.3)
    async with scripted_imap(troubles={1: "hang up"}) as server:
        imap = server.imap()
        async with watching(app, imap):
            await opened(app, imap)
            server.mails.update({1: letter(1), 2: letter(2)})
            await came(app, 2)
            server.troubles.clear()
            await came(app, 1, 2)
            await eventually(lambda: _is(unfetched(app), []), "the note was gone")


async def test_a_mail_that_nobody_can_show_was_given_up_after_five_connections(
    app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is asked for ever more rarely, without a last time, and stays noted for a person."""
    monkeypatch.setattr(positions, "FIRST_PAUSE_S", 0.1)
    async with scripted_imap(troubles={1: "no"}) as server:
        imap = server.imap()
        async with watching(app, imap):
            await opened(app, imap)
            server.mails[1] = letter(1)
            await eventually(lambda: _is(_attempts(app), [7]), "it was asked for seven times")
        monkeypatch.setattr(positions, "FIRST_PAUSE_S", 600.0)
        server.commands.clear()
        async with watching(app, imap):
            await eventually(lambda: _says(server, "IDLE"), "the folder was read")
        assert not [command for command in server.commands if "BODY.PEEK" in command]
        assert await unfetched(app) == [1]


async def _attempts(app: App) -> list[int]:
    async with app.database.reading() as conn:
        return [min(row["attempts"], 7) for row in await fetch_all(conn, "SELECT attempts FROM unfetched_mails")]


async def _says(server: ScriptedImap, command: str) -> bool:
    return command in server.commands


async def test_news_that_comes_in_one_packet_with_idle_is_not_slept_through(app: App) -> None:
    """`+ idling` and `EXISTS` at once: imaplib has read both, the socket is silent, and the mail comes all the same."""
    async with scripted_imap(exists_with_idle=True) as server, watching(app, server.imap()):
        await came(app, 1)


async def test_news_over_tls_is_not_slept_through(app: App, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """TLS has a buffer of its own: what lies in it wakes IDLE, and so does what comes later."""
    pem = tmp_path / "server.pem"
    pem.write_bytes(private_pem() + certificate(address="127.0.0.1"))
    monkeypatch.setenv("SSL_CERT_FILE", str(pem))
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(pem)
    async with AsyncExitStack() as stack:
        server = await stack.enter_async_context(scripted_imap(tls=context, exists_with_idle=True))
        await stack.enter_async_context(watching(app, server.imap(tls="implicit")))
        for uid in (1, 2, 3):
            if uid > 1:
                server.mails[uid] = letter(uid)
            await came(app, *range(1, uid + 1))


async def test_dates_that_cannot_be_read_stop_no_second_reading(app: App) -> None:
    """A folder read again under a new UIDVALIDITY comes whole, though the server dates its mails in no known way."""
    async with scripted_imap(internal_date="99-Foo-2030 25:61:00 +9999") as server:
        imap = server.imap()
        async with watching(app, imap):
            await opened(app, imap)
        server.uidvalidity = 8
        server.mails = {70_001: letter("a", date="Fri, 01 Jan 2100 10:00:00 +0000"), 120_002: letter("b")}
        async with watching(app, imap):
            await came(app, 70_001, 120_002, uidvalidity=8)
    assert [event.mode for event in await stored(app)] == ["live", "history"]


async def test_without_idle_the_folder_is_looked_at(app: App) -> None:
    """A server that has no IDLE is asked again and again."""
    async with scripted_imap(capabilities="IMAP4rev1") as server:
        imap = server.imap(poll_s=0.1)
        async with watching(app, imap):
            await opened(app, imap)
            server.mails[1] = letter(1)
            await came(app, 1)
        assert "IDLE" not in server.commands


async def test_idle_is_issued_again(app: App) -> None:
    """IDLE ends with DONE after its time and begins anew, though nothing happened."""
    async with scripted_imap() as server, watching(app, server.imap(idle_s=0.1)):

        async def three_times() -> bool:
            return server.commands.count("IDLE") >= 3 and server.commands.count("DONE") >= 2

        await eventually(three_times, "IDLE was issued again")


async def test_a_network_that_hangs_is_left_and_found_again(app: App) -> None:
    """A connection on which no byte moves is given up after its deadline; when the network is back, so are we."""
    async with scripted_imap() as server, FaultProxy("127.0.0.1", server.port) as proxy:
        imap = server.imap(idle_s=0.2, timeout_s=0.3).model_copy(update={"port": proxy.port})
        async with watching(app, imap):
            await opened(app, imap)
            proxy.pause()
            server.mails[1] = letter(1)
            await asyncio.sleep(1)
            assert await keys(app) == []
            proxy.resume()
            await came(app, 1)
            for uid in (2, 3):
                proxy.cut()
                server.mails[uid] = letter(uid)
                await came(app, *range(1, uid + 1))


async def test_two_processes_on_one_inbox_make_one_event_a_mail(app: App) -> None:
    """Both read the same folder at the same time; the history holds each mail once, and each is on the log."""
    async with scripted_imap() as server:
        imap = server.imap()
        async with watching(app, imap), watching(app, imap):
            await opened(app, imap)
            for uid in range(1, 31):
                server.mails[uid] = letter(uid)
                await asyncio.sleep(0.01)
            await came(app, *range(1, 31))
    assert len(await keys(app)) == 30


async def test_a_mail_over_every_limit_is_let_in_all_the_same(app: App) -> None:
    """A server's mail cannot be refused any more: 30 MB come in whole, for `read_email` to park with the reason."""
    async with scripted_imap() as server:
        imap = server.imap()
        async with watching(app, imap):
            await opened(app, imap)
            raw = letter("huge", pad=30 * 1024 * 1024)
            server.mails.update({1: raw, 2: letter(2)})
            await came(app, 1, 2)
    huge = next(event for event in await stored(app) if event.source_key.endswith(":1"))
    assert await app.blobs.get(huge.blob) == raw


async def test_one_broken_inbox_stops_no_other(app: App) -> None:
    """An inbox whose server refuses the login is tried again by itself; the mail of the others comes."""
    async with scripted_imap() as good, scripted_imap(capabilities="IMAP4rev1 AUTH=PLAIN", token="none") as bad:
        both = (
            InboxSettings(name="bad", address="bad@shop.example", imap=bad.imap()),
            INBOX.model_copy(update={"imap": good.imap()}),
        )
        stop = asyncio.Event()
        changed = replace(app, settings=app.settings.model_copy(update={"inboxes": both}))
        work = asyncio.create_task(watch_inboxes(changed, stop))
        await opened(app, good.imap())
        good.mails[1] = letter(1)
        await came(app, 1)
        assert sum(command.startswith("AUTHENTICATE") for command in bad.commands) > 1
        stop.set()
        await asyncio.wait_for(work, 120)


async def test_an_inbox_that_was_away_was_said_twice(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that refuses connections is one line of the log and one problem of the status; both end with it."""
    with socket.socket() as closed:  # bound for as long as it is tried, so that nobody else listens there
        closed.bind(("127.0.0.1", 0))
        imap = ImapSettings.model_validate(
            {"host": "127.0.0.1", "port": closed.getsockname()[1], "tls": "none", "username": "u", "password": "p"}
        )
        assert imap.read_sent
        inbox = INBOX.model_copy(update={"imap": imap})
        changed = replace(app, settings=app.settings.model_copy(update={"inboxes": (inbox,)}))
        stop, note = asyncio.Event(), mail_servers.note
        tried: list[str] = []

        async def noted(*args: Any) -> bool:
            tried.append(args[3])
            return await note(*args)

        monkeypatch.setattr(mail_servers, "note", noted)
        with capture_logs() as logged:
            work = asyncio.create_task(watch_inboxes(changed, stop))
            await eventually(lambda: _so_often(tried, 6), "both folders were tried several times")
            stop.set()
            await asyncio.wait_for(work, 10)
    assert [one["event"] for one in logged if one["log_level"] == "warning"] == ["inbox away"]
    [away] = await mail_outages(changed)
    assert "mail is not fetched from its IMAP server" in away.words
    assert "Connection refused" in away.words
    assert "correspondent inbox test support" in away.words
    async with scripted_imap() as server, watching(changed, server.imap()):
        await eventually(lambda: _is(mail_outages(changed), ()), "the outage was taken back")


async def _so_often(tried: list[str], times: int) -> bool:
    return len(tried) >= times


async def test_nothing_is_ever_marked_or_moved(app: App) -> None:
    """The folder is examined, bodies are peeked at, and no command that changes anything is sent."""
    async with scripted_imap() as server:
        imap = server.imap()
        async with watching(app, imap):
            await opened(app, imap)
            server.mails[1] = letter(1)
            await came(app, 1)
        verbs = {command.upper().removeprefix("UID ").partition(" ")[0] for command in server.commands}
    assert verbs <= {"CAPABILITY", "LOGIN", "EXAMINE", "SEARCH", "FETCH", "IDLE", "DONE", "NOOP", "LOGOUT", ""}
    assert all("PEEK" in command for command in server.commands if "BODY" in command)


async def test_xoauth2_logs_in_with_a_fresh_token(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    """With OAuth settings each connection asks for a token and shows it as RFC 7628's forerunner wants it."""

    async def fresh(*_: object) -> str:
        return "token-1"

    monkeypatch.setattr(session, "access_token", fresh)
    oauth = OAuthSettings.model_validate({"token_url": "http://none", "client_id": "c", "refresh_token": "r"})
    async with scripted_imap(capabilities="IMAP4rev1 IDLE AUTH=XOAUTH2", token="token-1") as server:
        imap = server.imap(oauth=oauth)
        async with watching(app, imap):
            await opened(app, imap)
    assert repr("user=ann\x01auth=Bearer token-1\x01\x01") in server.commands
    assert not any(command.startswith("LOGIN") for command in server.commands)


async def test_a_changed_uidvalidity_reads_again_and_repeats_nothing(app: App) -> None:
    """The same mails under new UIDs make no event; one that differs in a header added on the way is the same mail."""
    async with scripted_imap() as server:
        imap = server.imap()
        async with watching(app, imap):
            await opened(app, imap)
            server.mails.update({1: letter(1), 2: letter(2)})
            await came(app, 1, 2)
        server.uidvalidity = 8
        future = letter("new", date="Fri, 01 Jan 2100 10:00:00 +0000")
        server.mails = {11: letter(2), 12: b"X-Restored: yes\r\n" + letter(1), 13: future}
        async with watching(app, imap):
            await eventually(lambda: _count(app, 3), "the new mail came")
            server.mails[14] = letter(14)
            await eventually(lambda: _count(app, 4), "the folder went on")
    assert await keys(app) == ["INBOX:7:1", "INBOX:7:2", "INBOX:8:13", "INBOX:8:14"]
    assert [event.mode for event in await stored(app)] == ["live"] * 4


async def _count(app: App, number: int) -> bool:
    async with app.database.reading() as conn:
        return (
            len(await fetch_all(conn, "SELECT id FROM events WHERE id NOT IN (SELECT event_id FROM outbox)")) == number
        )
