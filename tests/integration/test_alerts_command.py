"""`correspondent alerts`: what is said of targets that work, and of those that do not."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from rich.console import Console
from typer.testing import CliRunner, Result

from deploy.local import Endpoints
from services.cli import alerts
from services.cli.main import app as command_line
from tests.support.alert_receiver import SECRET, Receiver, receiving
from tests.support.smtp_server import SmtpServer
from tests.support.tending import Tended, tending

OPS = "ops@ourcompany.example"
RULE = {"name": "contracts", "when": {"subject_contains": ["contract"]}, "then": {"escalate": "Grace has those."}}
TOML = """
[smtp]
host = "{host}"
port = {port}
[[inboxes]]
name = "support"
address = "support@ourcompany.example"
[alerts]
private_hosts = {private}
timeout_s = 20
{targets}
"""


@pytest.fixture
def loop() -> Iterator[asyncio.AbstractEventLoop]:
    """A loop in a thread of its own, for servers that a command talks to."""
    one = asyncio.new_event_loop()
    thread = threading.Thread(target=one.run_forever, daemon=True)
    thread.start()
    yield one
    one.call_soon_threadsafe(one.stop)
    thread.join()


@pytest.fixture
def hook(loop: asyncio.AbstractEventLoop) -> Iterator[Receiver]:
    context = receiving()
    yield asyncio.run_coroutine_threadsafe(context.__aenter__(), loop).result()
    asyncio.run_coroutine_threadsafe(context.__aexit__(None, None, None), loop).result()


@pytest.fixture
def server(loop: asyncio.AbstractEventLoop) -> Iterator[SmtpServer]:
    async def begun() -> SmtpServer:
        return await SmtpServer().__aenter__()

    one = asyncio.run_coroutine_threadsafe(begun(), loop).result()
    yield one
    asyncio.run_coroutine_threadsafe(one.__aexit__(), loop).result()


class Place:
    """A folder with a settings file, and the command line in it."""

    def __init__(self, folder: Path, server: SmtpServer) -> None:
        self.folder, self.server = folder, server

    def set(self, targets: str, *, private: bool = True, port: int | None = None) -> None:
        said = TOML.format(
            host="127.0.0.1", port=port or self.server.port, private=str(private).lower(), targets=targets
        )
        (self.folder / "correspondent.toml").write_text(said)

    def type(self, *arguments: str) -> Result:
        return CliRunner().invoke(command_line, ["--home", str(self.folder / "var"), "alerts", *arguments])


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, server: SmtpServer) -> Place:
    monkeypatch.setenv("CORRESPONDENT_CONFIG", str(tmp_path / "correspondent.toml"))
    return Place(tmp_path, server)


def target(**fields: str) -> str:
    return "[[alerts.to]]\n" + "\n".join(f'{name} = "{value}"' for name, value in fields.items())


def test_a_test_reaches_every_target(place: Place, hook: Receiver) -> None:
    """Each step says what it found; a mail and a signed call arrive, and both say that they are a test."""
    place.set(target(mail=OPS) + "\n" + target(webhook=hook.url, secret=SECRET))
    said = place.type("test")
    assert said.exit_code == 0, said.output
    assert "sent from support@ourcompany.example; the server said 250 kept" in said.output
    assert "the receiver said 204 No Content" in said.output
    (mail,) = place.server.accepted
    assert (mail.recipient, mail.header("Subject")) == (OPS, "A test of the alerts")
    assert mail.header("Auto-Submitted") == "auto-generated"
    (post,) = hook.posts
    assert post.is_signed
    assert post.said["type"] == "alerts.test"


def test_without_sending_nothing_leaves(place: Place, hook: Receiver) -> None:
    """`--no-send` asks the server for the recipient and goes again; a webhook is not called."""
    place.set(target(mail=OPS) + "\n" + target(webhook=hook.url, secret=SECRET))
    said = place.type("test", "--no-send")
    assert said.exit_code == 0, said.output
    assert f"the server takes mail from support@ourcompany.example to {OPS}" in said.output
    assert (place.server.accepted, hook.posts) == ([], [])


def test_what_is_wrong_is_said_with_what_to_do(place: Place, hook: Receiver) -> None:
    """A refused recipient, a receiver that does not know the secret, an address that is not public."""
    place.server.script = lambda session, step: "550 no such user" if step == "rcpt" else None
    hook.answer = "401 Unauthorized"
    place.set(target(mail=OPS) + "\n" + target(webhook=hook.url, secret=SECRET))
    said = place.type("test")
    assert said.exit_code == 1
    assert "550 no such user" in said.output
    assert "answers 401 Unauthorized" in said.output
    assert "-> check the address and the secret in alerts.to" in said.output
    place.set(target(webhook=hook.url, secret=SECRET), private=False)
    assert "is not public; alerts.private_hosts allows it" in place.type("test").output


def test_an_inbox_of_ours_as_a_target_is_refused_before_anything_is_asked(place: Place) -> None:
    """The settings say that an alert would come in as a mail."""
    place.set(target(mail="support@ourcompany.example"))
    said = place.type("test")
    assert said.exit_code != 0
    assert "is an inbox that the agent answers for" in str(said.exception)
    place.set("")
    assert "Nobody is alerted when a human must act" in place.type("test").output


@pytest.fixture
async def tended(
    stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path
) -> AsyncIterator[tuple[Tended, SmtpServer]]:
    async with SmtpServer() as server:
        said = {
            "alerts": {"to": [{"mail": OPS}]},
            "smtp": {"host": "127.0.0.1", "port": server.port},
            "behaviours": [RULE],
        }
        async with tending(stack, database, topic_prefix, tmp_path, **said) as app:
            yield app, server


async def test_the_status_shows_a_target_that_fails(
    tended: tuple[Tended, SmtpServer], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing yet, not told with the reason and the next try, told; and an alert that came back is counted."""
    app, server = tended
    screen = Console(highlight=False, record=True, width=160)
    monkeypatch.setattr(alerts, "console", screen)

    async def shown() -> str:
        await alerts.show_channels(app.app)
        return " ".join(screen.export_text().split())

    assert "nothing to tell yet" in await shown()
    server.script = lambda session, step: "451 full" if step == "rcpt" else None
    await app.write("We want out.", subject="Our contract")
    await app.wait(seconds=25)
    assert f"mail {OPS} 0 not told for 0 s: 451 full; tried again in" in await shown()
    await app.wait(days=4)
    assert "nobody was told, given up" in await shown()
    server.script = lambda session, step: None
    await app.write("We want out.", subject="Another contract")
    await app.wait(hours=1)
    assert "told 0 s ago" in await shown()
    (kept,) = server.accepted
    await app.receive(_bounce(kept.message_id))
    assert "1 alerts of the last 7 days came back" in await shown()


def _bounce(message_id: str) -> bytes:
    """A delivery status notification (RFC 3464) about an alert."""
    lines = [
        "From: MAILER-DAEMON@mx.example", "To: support@ourcompany.example", "Subject: Undelivered",
        "Message-ID: <bounce@mx.example>", "Return-Path: <>", "MIME-Version: 1.0",
        'Content-Type: multipart/report; report-type=delivery-status; boundary="b"', "",
        "--b", "Content-Type: text/plain", "", "It could not be delivered.",
        "--b", "Content-Type: message/delivery-status", "", "Reporting-MTA: dns; mx.example", "",
        f"Final-Recipient: rfc822; {OPS}", "Action: failed", "Status: 5.1.1", "",
        "--b", "Content-Type: message/rfc822", "", f"Message-ID: <{message_id}>", f"To: {OPS}", "", "x", "--b--", "",
    ]  # fmt: skip
    return "\r\n".join(lines).encode()
