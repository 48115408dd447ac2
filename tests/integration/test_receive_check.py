"""`correspondent inbox test`: each fault of an inbox is named, with what to do."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from deploy.local import Endpoints
from deploy.local.ports import free_port
from services.core.settings import ImapSettings, InboxSettings, OAuthSettings, SmtpSettings
from services.receive_email.check import Finding, check_inbox
from tests.support.dovecot import Dovecot, running_dovecot
from tests.support.scripted_imap import scripted_imap
from tests.support.webhook_senders import certificate, private_pem


@pytest.fixture(scope="module")
def dovecot() -> Iterator[Dovecot]:
    with running_dovecot() as server:
        yield server


def inbox(imap: ImapSettings | None) -> InboxSettings:
    return InboxSettings(name="support", address="support@shop.example", imap=imap)


async def last(imap: ImapSettings) -> Finding:
    """The step at which the check of an inbox ended."""
    return (await check_inbox(inbox(imap)))[-1]


@pytest.mark.dovecot
async def test_a_good_inbox_passes_every_step(dovecot: Dovecot, stack: Endpoints) -> None:
    """Name, connection, folder and the way out are all found to be well, with what was seen."""
    dovecot.maildir("carol")
    dovecot.deliver("carol", b"Subject: one\r\n\r\n")
    smtp = SmtpSettings(host=stack.smtp_host, port=stack.smtp_port)
    findings = await check_inbox(inbox(dovecot.imap("carol")), smtp)
    assert all(one.ok for one in findings), findings
    assert "INBOX holds 1 mails; IDLE" in [one.found for one in findings]
    assert [one.step for one in findings if one.step.startswith("smtp")] == [
        "smtp dns",
        "smtp connection",
        "smtp session",
    ]


@pytest.mark.dovecot
@pytest.mark.parametrize(
    ("change", "step", "remedy"),
    [
        ({"password": "wrong"}, "imap login", "app password"),
        ({"folder": "Spport"}, "imap folder", "one of: "),
        ({"tls": "implicit"}, "imap tls", "does not speak TLS"),
        ({"host": "no-such-host.invalid"}, "imap dns", "misspelling"),
    ],
)
async def test_each_fault_is_named(dovecot: Dovecot, change: dict[str, Any], step: str, remedy: str) -> None:
    """What is wrong ends the chain, at its own step, with the remedy."""
    dovecot.maildir("carol")
    finding = await last(dovecot.imap("carol", **change))
    assert (finding.ok, finding.step) == (False, step)
    assert remedy in finding.remedy


async def test_a_closed_port_is_named() -> None:
    """Where nobody listens the port is named."""
    port = free_port()
    finding = await last(ImapSettings(host="127.0.0.1", port=port, username="ann"))
    assert (finding.ok, finding.step) == (False, "imap connection")
    assert str(port) in finding.found


async def test_something_that_is_no_imap_server_is_named(stack: Endpoints) -> None:
    """An SMTP server at the IMAP port is told from a wrong password."""
    finding = await last(ImapSettings(host=stack.smtp_host, port=stack.smtp_port, username="ann", tls="none"))
    assert (finding.ok, finding.step) == (False, "imap session")


async def test_a_certificate_that_nobody_trusts_is_named(tmp_path: Path) -> None:
    """A self-signed certificate ends the check at TLS, and no password is sent."""
    async with tls_server(tmp_path) as port:
        finding = await last(ImapSettings(host="127.0.0.1", port=port, username="ann"))
    assert (finding.ok, finding.step) == (False, "imap tls")
    assert "SSL_CERT_FILE" in finding.remedy


async def test_a_token_server_that_is_away_is_named() -> None:
    """Without an access token there is no login; the finding holds no secret."""
    oauth = OAuthSettings.model_validate(
        {"token_url": f"http://127.0.0.1:{free_port()}/token", "client_id": "c", "refresh_token": "very-secret"}
    )
    async with scripted_imap() as server:
        finding = await last(server.imap(oauth=oauth))
    assert (finding.ok, finding.step) == (False, "imap token")
    assert "very-secret" not in repr(finding)


async def test_an_inbox_without_imap_is_no_fault() -> None:
    """Mail may come by webhook or file alone."""
    (finding,) = await check_inbox(inbox(None))
    assert finding.ok


@asynccontextmanager
async def tls_server(folder: Path) -> AsyncIterator[int]:
    (folder / "server.pem").write_bytes(private_pem() + certificate())
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(folder / "server.pem")

    async def close(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.close()

    server = await asyncio.start_server(close, "127.0.0.1", 0, ssl=context)
    yield server.sockets[0].getsockname()[1]
    server.close()
