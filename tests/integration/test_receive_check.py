"""`correspondent inbox test`: each fault of an inbox is named, with what to do."""

from __future__ import annotations

import asyncio
import base64
import ssl
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import pytest
from aiosmtpd.controller import Controller
from aiosmtpd.handlers import Sink
from aiosmtpd.smtp import AuthResult
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from deploy.local import Endpoints
from deploy.local.ports import free_port
from services.core.settings import DkimSettings, ImapSettings, InboxSettings, OAuthSettings, SmtpSettings
from services.mail.authentication.results import DnsFailed, RecordType
from services.receive_email.check import Finding, check_inbox
from tests.support.dovecot import Dovecot, running_dovecot
from tests.support.scripted_imap import scripted_imap
from tests.support.webhook_senders import AMAZON_KEY, certificate, private_pem


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
    dovecot.maildir("carol", "Sent")
    smtp = SmtpSettings(host=stack.smtp_host, port=stack.smtp_port)
    findings = await check_inbox(inbox(dovecot.imap("carol")), smtp)
    assert all(one.ok for one in findings), findings
    assert any(one.found.startswith("INBOX holds 1 mails; IDLE; sent mail in Sent") for one in findings), findings
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
        ({"sent_folder": "Gesendet"}, "imap folder", "sent_folder to one of: "),
        ({"tls": "implicit"}, "imap tls", "does not speak TLS"),
        ({"tls": "starttls"}, "imap tls", 'tls = "implicit"'),
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
    assert "self-signed" in finding.remedy
    assert "inboxes.imap.ca_file" in finding.remedy


async def test_a_token_server_that_is_away_is_named() -> None:
    """Without an access token there is no login; the finding holds no secret."""
    oauth = OAuthSettings.model_validate(
        {"token_url": f"http://127.0.0.1:{free_port()}/token", "client_id": "c", "refresh_token": "very-secret"}
    )
    async with scripted_imap() as server:
        finding = await last(server.imap(oauth=oauth))
    assert (finding.ok, finding.step) == (False, "imap token")
    assert "very-secret" not in repr(finding)


@pytest.mark.dovecot
async def test_starttls_encrypts_before_the_password(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a trusted certificate the inbox passes, and is read; with one that nobody trusts, no password is sent."""
    pem = certificate(address="127.0.0.1")
    with running_dovecot(private_pem() + pem) as server:
        server.maildir("carol")
        finding = await last(server.imap("carol", tls="starttls"))
        assert (finding.ok, finding.step) == (False, "imap tls")
        assert "Login" not in (server.home / "dovecot.log").read_text()
        (tmp_path / "ca.pem").write_bytes(pem)
        monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "ca.pem"))
        finding = await last(server.imap("carol", tls="starttls"))
        assert (finding.ok, finding.step) == (True, "sender results"), finding
        assert "TLS" in (server.home / "dovecot.log").read_text()


@pytest.mark.filterwarnings("ignore:Requiring AUTH")
@pytest.mark.parametrize(("password", "step", "ok"), [("right", "smtp session", True), ("wrong", "smtp login", False)])
async def test_the_smtp_login_is_tried(password: str, step: str, ok: bool) -> None:
    """A server that wants a login and refuses ours is told from one that is away."""
    with smtp_with_login("support@shop.example", "right") as port:
        smtp = SmtpSettings.model_validate(
            {"host": "127.0.0.1", "port": port, "username": "support@shop.example", "password": password}
        )
        finding = (await check_inbox(inbox(None), smtp))[-1]
    assert (finding.step, finding.ok) == (step, ok)
    assert "right" not in repr(finding)


@contextmanager
def smtp_with_login(username: str, password: str) -> Iterator[int]:
    def check(server: Any, session: Any, envelope: Any, mechanism: str, given: Any) -> AuthResult:
        success = (given.login, given.password) == (username.encode(), password.encode())
        return AuthResult(success=success, handled=False)

    controller = Controller(
        Sink(), hostname="127.0.0.1", port=free_port(), authenticator=check, auth_required=True, auth_require_tls=False
    )
    controller.start()
    try:
        yield controller.port
    finally:
        controller.stop()


async def test_the_way_in_does_not_hide_a_fault_of_the_way_out() -> None:
    """Each server has its own chain: a mistyped SMTP host is said although IMAP failed before it."""
    imap = ImapSettings(host="no-such-host.invalid", username="ann")
    findings = await check_inbox(inbox(imap), SmtpSettings(host="neither.invalid"))
    assert [(one.step, one.ok) for one in findings] == [("imap dns", False), ("smtp dns", False)]


AR = b"Authentication-Results: mx.shop.example; dmarc=pass header.from=a.example\r\n"
ARRIVED = b"Received: from a.example (a.example [192.0.2.1]) by mx.shop.example with ESMTP; Mon, 1 Jan 2024 10:00:00 +0000\r\n"


@pytest.mark.parametrize(
    ("headers", "stripping", "ok"),
    [(AR + ARRIVED, (), True), (ARRIVED + AR, (), False), (ARRIVED + AR, ("mx.shop.example",), True)],
)
async def test_the_servers_results_are_looked_at(headers: bytes, stripping: tuple[str, ...], ok: bool) -> None:
    """Whether what the server found out about senders stands where it is believed, seen in the newest mails."""
    async with scripted_imap(
        mails={4: headers + b"From: ann@a.example\r\n\r\nHi.\r\n"}, capabilities="IMAP4rev1"
    ) as server:
        given = {"authserv_ids": ("MX.shop.example",), "stripping_ids": stripping}
        findings = await check_inbox(inbox(server.imap(read_sent=False, keep_sent=False)), None, None, **given)
    assert (findings[-1].step, findings[-1].ok) == ("sender results", ok), findings
    assert not any("UID FETCH" in one for one in server.commands)


def signing(tmp_path: Path, key: bytes, **changes: Any) -> InboxSettings:
    (tmp_path / "s1.pem").write_bytes(key)
    dkim = {"domain": "shop.example", "selector": "s1", "key_file": tmp_path / "s1.pem", **changes}
    return InboxSettings(name="support", address="support@shop.example", dkim=DkimSettings.model_validate(dkim))


def published(key: rsa.RSAPrivateKey, domain: str = "shop.example") -> Records:
    der = key.public_key().public_bytes(serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo)
    return Records({f"s1._domainkey.{domain}": f"v=DKIM1; k=rsa; p={base64.b64encode(der).decode()}"})


class Records:
    """A DNS with the TXT records given; without any, one that does not answer."""

    def __init__(self, records: dict[str, str] | None = None) -> None:
        self._records = records

    def lookup(self, name: str, kind: RecordType) -> tuple[str, ...]:
        if self._records is None:
            raise DnsFailed("no answer")
        return (self._records[name.rstrip(".")],) if name.rstrip(".") in self._records else ()


OTHER_KEY = rsa.generate_private_key(public_exponent=65537, key_size=2048)


@pytest.mark.parametrize(
    ("key", "dns", "changes", "step", "said"),
    [
        (private_pem(), published(AMAZON_KEY), {}, "", ""),
        (b"no key at all", published(AMAZON_KEY), {}, "dkim key", "PEM for rsa"),
        (private_pem(), published(AMAZON_KEY), {"key_file": "/nowhere/s1.pem"}, "dkim key", "key_file"),
        (private_pem(), Records({}), {}, "dkim record", "s1._domainkey.shop.example TXT"),
        (private_pem(), published(OTHER_KEY), {}, "dkim record", "public half of this key file"),
        (private_pem(), Records(), {}, "dkim record", "try again"),
        (private_pem(), published(AMAZON_KEY, "else.example"), {"domain": "else.example"}, "dkim domain", "DMARC"),
    ],
)  # fmt: skip
async def test_the_signature_of_replies_is_tried(
    tmp_path: Path, key: bytes, dns: Records, changes: dict[str, Any], step: str, said: str
) -> None:
    """Key file, DNS record and domain are each named where they do not fit, before a customer's server finds out."""
    findings = [one for one in await check_inbox(signing(tmp_path, key, **changes), None, dns) if "dkim" in one.step]
    assert [one.step for one in findings if not one.ok] == ([step] if step else [])
    assert said in findings[-1].remedy
    assert "PRIVATE KEY" not in repr(findings)


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
