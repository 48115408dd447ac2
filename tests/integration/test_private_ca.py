"""Mail servers whose certificates are from a CA of one's own: `ca_file` of the inbox, and what is said without it."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from aiosmtpd.handlers import Sink
from aiosmtpd.smtp import SMTP

from services.core.settings import ImapSettings, InboxSettings, SmtpSettings
from services.mail.check.steps import Finding
from services.mail.smtp_dialogue import NotNow, SmtpMessage, dialogue
from services.receive_email.check import check_inbox
from tests.support.dovecot import running_dovecot
from tests.support.private_ca import PrivateCa
from tests.support.webhook_senders import certificate, private_pem

CA = PrivateCa()
LETTER = SmtpMessage("support@shop.example", "ann@acme.example", b"Subject: Hi\r\n\r\nHi\r\n")


@pytest.fixture
def ca_file(tmp_path: Path) -> Path:
    path = tmp_path / "ca.pem"
    path.write_bytes(CA.pem)
    return path


@asynccontextmanager
async def smtp_server(folder: Path, pem: bytes, *, implicit: bool = True) -> AsyncIterator[SmtpSettings]:
    """A real SMTP server with this key and certificate."""
    (folder / "smtp.pem").write_bytes(pem)
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(folder / "smtp.pem")
    offered = {} if implicit else {"tls_context": context, "require_starttls": True}
    loop = asyncio.get_running_loop()
    server = await loop.create_server(
        lambda: SMTP(Sink(), loop=loop, **offered), "127.0.0.1", 0, ssl=context if implicit else None
    )
    async with server:
        port = server.sockets[0].getsockname()[1]
        yield SmtpSettings(host="127.0.0.1", port=port, tls="implicit" if implicit else "starttls")


async def last(imap: ImapSettings | None = None, smtp: SmtpSettings | None = None) -> Finding:
    inbox = InboxSettings(name="support", address="support@shop.example", imap=imap)
    return (await check_inbox(inbox, smtp))[-1]


@pytest.mark.dovecot
async def test_an_inbox_trusts_the_ca_that_it_names(ca_file: Path) -> None:
    """IMAP passes with the CA's certificate in `ca_file`, and without it nobody's password is sent."""
    with running_dovecot(CA.server_pem()) as server:
        server.maildir("carol")
        without = await last(server.imap("carol", tls="starttls"))
        assert (without.ok, without.step) == (False, "imap tls")
        assert "inboxes.imap.ca_file" in without.remedy
        assert "Login" not in (server.home / "dovecot.log").read_text()
        named = await last(server.imap("carol", tls="starttls", ca_file=str(ca_file)))
        assert named.ok, named


@pytest.mark.parametrize("implicit", [True, False])
async def test_replies_leave_by_a_server_whose_ca_the_inbox_names(
    tmp_path: Path, ca_file: Path, implicit: bool
) -> None:
    """A reply is taken with the CA's certificate in `ca_file`; without it, the reply waits and is not refused."""
    async with smtp_server(tmp_path, CA.server_pem(), implicit=implicit) as smtp:
        with pytest.raises(NotNow, match="certificate"):
            async with dialogue(smtp, LETTER):
                pass
        async with dialogue(smtp.model_copy(update={"ca_file": str(ca_file)}), LETTER) as open_one:
            assert (await open_one.data()).startswith("250")
        gone = smtp.model_copy(update={"ca_file": str(tmp_path / "gone.pem")})
        with pytest.raises(NotNow, match=r"ca_file: .*gone\.pem: No such file"):
            async with dialogue(gone, LETTER):
                pass


@pytest.mark.parametrize(
    ("pem", "trusts", "remedy"),
    [
        (CA.server_pem(), False, "its issuer is unknown here: set smtp.ca_file"),
        (private_pem() + certificate(address="127.0.0.1"), False, "it is self-signed"),
        (CA.server_pem("192.0.2.9"), True, "it is for another name: set smtp.host"),
        (CA.server_pem(valid_for=-timedelta(days=1)), True, "it has expired"),
    ],
)
@pytest.mark.parametrize("implicit", [True, False])
async def test_each_fault_of_a_certificate_was_called_a_wrong_port(
    tmp_path: Path, ca_file: Path, pem: bytes, trusts: bool, remedy: str, implicit: bool
) -> None:
    """Self-signed, of an unknown CA, for another name, expired: each is named as such, with what to do."""
    async with smtp_server(tmp_path, pem, implicit=implicit) as smtp:
        finding = await last(smtp=smtp.model_copy(update={"ca_file": str(ca_file) if trusts else ""}))
    assert (finding.ok, finding.step) == (False, "smtp tls"), finding
    assert remedy in finding.remedy
    assert "port" not in finding.remedy


@pytest.mark.parametrize(("content", "said"), [(None, "No such file"), (b"no certificate", "no certificate in PEM")])
async def test_a_ca_file_that_cannot_be_used_is_named(tmp_path: Path, content: Any, said: str) -> None:
    """The setting is named, and the file."""
    path = tmp_path / "ca.pem"
    if content is not None:
        path.write_bytes(content)
    async with smtp_server(tmp_path, CA.server_pem()) as smtp:
        finding = await last(smtp=smtp.model_copy(update={"ca_file": str(path)}))
    assert not finding.ok
    assert said in finding.found
    assert "smtp.ca_file" in finding.remedy
