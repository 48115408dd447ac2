"""The login at the server that replies are handed over to: by password or XOAUTH2, and what a refusal means."""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any

import pytest
from aiosmtpd.controller import Controller
from aiosmtpd.handlers import Sink
from aiosmtpd.smtp import AuthResult
from pydantic import ValidationError

from deploy.local.ports import free_port
from services.core.settings import InboxSettings, SmtpSettings
from services.mail.smtp_dialogue import NotNow, SmtpMessage, dialogue
from services.receive_email.check import check_inbox

USER, TOKEN, REFRESH = "support@shop.example", "token-1", "the refresh token"
LETTER = SmtpMessage(USER, "ann@acme.example", b"Subject: Hi\r\n\r\nHi\r\n")

pytestmark = pytest.mark.filterwarnings("ignore:Requiring AUTH")


class Mailbox(Sink):
    """Takes mail from whoever shows the token as XOAUTH2 has it, or the password."""

    def __init__(self) -> None:
        self.taken: list[bytes] = []

    async def handle_DATA(self, server: Any, session: Any, envelope: Any) -> str:
        self.taken.append(envelope.content)
        return "250 taken"

    async def auth_XOAUTH2(self, server: Any, args: list[str]) -> AuthResult:
        shown = base64.b64decode(args[1]).decode()
        return AuthResult(success=shown == f"user={USER}\x01auth=Bearer {TOKEN}\x01\x01", handled=False)


@contextmanager
def smtp_server() -> Iterator[tuple[Mailbox, int]]:
    def check(server: Any, session: Any, envelope: Any, mechanism: str, given: Any) -> AuthResult:
        return AuthResult(success=given.password == b"right", handled=False)

    mailbox = Mailbox()
    controller = Controller(
        mailbox, hostname="127.0.0.1", port=free_port(), authenticator=check, auth_required=True, auth_require_tls=False
    )
    controller.start()
    try:
        yield mailbox, controller.port
    finally:
        controller.stop()


@asynccontextmanager
async def token_server(token: str = TOKEN) -> AsyncIterator[str]:
    """Gives an access token for the right refresh token (RFC 6749, section 6); its URL."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
        length = int(head.split("content-length:")[1].split("\r\n")[0])
        good = b"refresh_token=the+refresh+token" in await reader.readexactly(length)
        status, said = ("200 OK", {"access_token": token}) if good else ("400 Bad Request", {"error": "invalid_grant"})
        body = json.dumps(said).encode()
        writer.write(f"HTTP/1.1 {status}\r\ncontent-length: {len(body)}\r\nconnection: close\r\n\r\n".encode() + body)
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/token"
    server.close()


def settings(port: int, url: str, refresh_token: str = REFRESH) -> SmtpSettings:
    oauth = {"token_url": url, "client_id": "c", "refresh_token": refresh_token}
    return SmtpSettings.model_validate({"port": port, "username": USER, "oauth": oauth})


async def test_a_reply_goes_out_with_a_fresh_token() -> None:
    """The refresh token buys an access token, and the server takes the mail for it."""
    with smtp_server() as (mailbox, port):
        async with token_server() as url, dialogue(settings(port, url), LETTER) as session:
            assert (await session.data()).startswith("250")
    assert mailbox.taken == [LETTER.raw]


@pytest.mark.parametrize(("token", "refresh"), [("another", REFRESH), (TOKEN, "revoked")])
async def test_a_refused_login_fails_no_reply(token: str, refresh: str) -> None:
    """It says nothing about the mail, which waits for the next attempt: somebody will mend the login."""
    with smtp_server() as (mailbox, port):
        async with token_server(token) as url:
            with pytest.raises(NotNow, match="login was refused"):
                async with dialogue(settings(port, url, refresh), LETTER):
                    pass
        password = SmtpSettings.model_validate({"port": port, "username": USER, "password": "wrong"})
        with pytest.raises(NotNow, match="login was refused"):
            async with dialogue(password, LETTER):
                pass
    assert mailbox.taken == []


@pytest.mark.parametrize(
    ("token", "refresh", "step", "ok"),
    [
        (TOKEN, REFRESH, "smtp session", True),
        ("another", REFRESH, "smtp login", False),
        (TOKEN, "revoked", "smtp token", False),
    ],
)
async def test_the_check_tells_token_from_login(token: str, refresh: str, step: str, ok: bool) -> None:
    """What is to be mended is another thing in each case; no secret is shown."""
    inbox = InboxSettings(name="support", address=USER)
    with smtp_server() as (_, port):
        async with token_server(token) as url:
            finding = (await check_inbox(inbox, settings(port, url, refresh)))[-1]
    assert (finding.step, finding.ok) == (step, ok), finding
    assert refresh not in repr(finding)


@pytest.mark.parametrize("given", [{"password": "both"}, {"username": ""}])
def test_two_logins_or_half_of_one_are_refused(given: dict[str, str]) -> None:
    """At the start, in words."""
    with pytest.raises(ValidationError, match="a username is needed, and no password"):
        SmtpSettings.model_validate(settings(25, "http://none").model_dump() | given)
