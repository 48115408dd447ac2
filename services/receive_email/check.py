"""Tests an inbox as `correspondent inbox test` does: each step, what is wrong with it, and what to do about it.

Steps build on each other, so the first fault ends its chain: a name that does not resolve is not connected to.
"""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from imaplib import IMAP4
from typing import Any

import aiosmtplib
from imapclient import SocketTimeout
from imapclient.exceptions import LoginError

from services.core.errors import CorrespondentError
from services.core.settings import ImapSettings, InboxSettings, SmtpSettings
from services.receive_email.imap.client import Client
from services.receive_email.imap.oauth import access_token
from services.receive_email.imap.session import login

TIMEOUT_S = 15.0


@dataclass(frozen=True, slots=True)
class Finding:
    """One step: whether it went well, what was found, and, where it did not, what to do."""

    step: str
    ok: bool
    found: str
    remedy: str = ""


class _Fault(CorrespondentError):
    """A step failed; carries the finding."""

    def __init__(self, finding: Finding) -> None:
        super().__init__(finding.found)
        self.finding = finding


async def check_inbox(inbox: InboxSettings, smtp: SmtpSettings | None = None) -> list[Finding]:
    """What works and what does not, in the order in which it is used. Never raises, changes nothing anywhere."""
    findings: list[Finding] = []
    if inbox.imap is not None:
        await _chain(findings, _imap_steps(inbox.imap))
    else:
        findings.append(Finding("imap", True, f"{inbox.name} has no IMAP settings: its mail comes by webhook or file"))
    if smtp is not None:
        await _chain(findings, _smtp_steps(smtp))
    return findings


Step = Callable[[], Awaitable[str]]


async def _chain(findings: list[Finding], steps: list[tuple[str, Step]]) -> None:
    for name, step in steps:
        try:
            findings.append(Finding(name, True, await step()))
        except _Fault as fault:
            findings.append(fault.finding)
            return


def _imap_steps(imap: ImapSettings) -> list[tuple[str, Step]]:
    async def sign_in() -> str:
        token = await _token(imap) if imap.oauth else ""
        return await asyncio.to_thread(_look, imap, token)

    return [
        ("imap dns", lambda: _resolve("imap dns", imap.host, imap.port, "inboxes.imap.host")),
        ("imap connection", lambda: _connect("imap connection", imap.host, imap.port)),
        ("imap folder", sign_in),
    ]


def _smtp_steps(smtp: SmtpSettings) -> list[tuple[str, Step]]:
    return [
        ("smtp dns", lambda: _resolve("smtp dns", smtp.host, smtp.port, "smtp.host")),
        ("smtp connection", lambda: _connect("smtp connection", smtp.host, smtp.port)),
        ("smtp session", lambda: _greet(smtp)),
    ]


async def _resolve(step: str, host: str, port: int, setting: str) -> str:
    try:
        async with asyncio.timeout(TIMEOUT_S):
            found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, TimeoutError, UnicodeError) as error:
        remedy = f"look for a misspelling in {setting}; ask your provider for the server's name"
        raise _Fault(Finding(step, False, f"the name {host!r} does not resolve: {error}", remedy)) from error
    return f"{host} is {', '.join(sorted({str(one[4][0]) for one in found}))}"


async def _connect(step: str, host: str, port: int) -> str:
    try:
        async with asyncio.timeout(TIMEOUT_S):
            _, writer = await asyncio.open_connection(host, port)
    except (OSError, TimeoutError) as error:
        remedy = f"check that port {port} is right and that no firewall is in between (IMAP 993, submission 587 or 465)"
        what = str(error) or f"no answer in {TIMEOUT_S:.0f} s"
        raise _Fault(Finding(step, False, f"no connection to {host} port {port}: {what}", remedy)) from error
    writer.close()
    return f"{host} answers on port {port}"


async def _token(imap: ImapSettings) -> str:
    assert imap.oauth is not None
    try:
        return await access_token(imap.oauth)
    except CorrespondentError as error:
        remedy = "grant access anew and put the new refresh token into inboxes.imap.oauth"
        raise _Fault(Finding("imap token", False, str(error), remedy)) from error


def _look(imap: ImapSettings, token: str) -> str:
    """TLS, login and folder over one connection."""
    with _imap_faults(imap):
        client: Any = Client(
            imap.host, imap.port, ssl=imap.tls == "implicit", timeout=SocketTimeout(TIMEOUT_S, TIMEOUT_S)
        )
        with client:
            login(client, imap, token)
            names = [name for _, _, name in client.list_folders()]
            if imap.folder not in names and imap.folder.upper() != "INBOX":
                raise _Fault(_no_folder(imap, names))
            selected = client.select_folder(imap.folder, readonly=True)
            idle = "IDLE" if client.has_capability("IDLE") else f"no IDLE: looked at every {imap.poll_s:.0f} s"
            return f"{imap.folder} holds {selected.get(b'EXISTS', 0)} mails; {idle}"


def _no_folder(imap: ImapSettings, names: list[str]) -> Finding:
    remedy = f"set inboxes.imap.folder to one of: {', '.join(sorted(names)[:20])}"
    return Finding("imap folder", False, f"there is no folder {imap.folder!r}", remedy)


@contextmanager
def _imap_faults(imap: ImapSettings) -> Iterator[None]:
    try:
        yield
    except LoginError as error:
        remedy = "check user name and password; many providers want an app password, or OAuth (inboxes.imap.oauth)"
        raise _Fault(Finding("imap login", False, f"{imap.username} is not let in: {error}", remedy)) from error
    except ssl.SSLCertVerificationError as error:
        remedy = "use the name that the certificate is for; for a CA of your own set SSL_CERT_FILE"
        raise _Fault(Finding("imap tls", False, f"the certificate is not trusted: {error}", remedy)) from error
    except ssl.SSLError as error:
        remedy = 'the port does not speak TLS: use 993, or set inboxes.imap.tls = "none" for a server of your own'
        raise _Fault(Finding("imap tls", False, f"TLS failed: {error}", remedy)) from error
    except (IMAP4.error, OSError) as error:
        remedy = "this is no IMAP server, or it expects TLS: check inboxes.imap.port and inboxes.imap.tls"
        raise _Fault(Finding("imap session", False, f"the session ended: {error!r}", remedy)) from error


async def _greet(smtp: SmtpSettings) -> str:
    client = aiosmtplib.SMTP(
        hostname=smtp.host,
        port=smtp.port,
        timeout=TIMEOUT_S,
        use_tls=smtp.tls == "implicit",
        start_tls=smtp.tls == "starttls",
        local_hostname=smtp.helo or None,
    )
    try:
        async with client:
            if smtp.username:
                await client.login(smtp.username, smtp.password.get_secret_value())
    except aiosmtplib.SMTPAuthenticationError as error:
        remedy = "check smtp.username and smtp.password; many providers want an app password"
        raise _Fault(Finding("smtp login", False, f"{smtp.username} is not let in: {error.message}", remedy)) from error
    except (aiosmtplib.SMTPException, OSError) as error:
        remedy = "check smtp.port and smtp.tls: 587 is starttls, 465 implicit, 25 usually none"
        raise _Fault(Finding("smtp session", False, f"the session failed: {error}", remedy)) from error
    return f"{smtp.host} takes mail" + (f" from {smtp.username}" if smtp.username else ", without a login")
