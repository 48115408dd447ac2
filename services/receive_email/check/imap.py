"""The way into an inbox: name, connection, TLS, login and folder."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from imaplib import IMAP4
from typing import Any

from imapclient.exceptions import CapabilityError, LoginError

from services.core.check.steps import TIMEOUT_S, Fault, Finding, Step, connect, resolve
from services.core.errors import CorrespondentError
from services.core.mail.imap import NoSentFolder, access_token, enter, login, sent_folder
from services.core.settings import ImapSettings


def imap_steps(imap: ImapSettings) -> list[tuple[str, Step]]:
    """The steps for one server; nothing is changed there."""

    async def sign_in() -> str:
        token = await _token(imap) if imap.oauth else ""
        return await asyncio.to_thread(_look, imap, token)

    return [
        ("imap dns", lambda: resolve("imap dns", imap.host, imap.port, "inboxes.imap.host")),
        ("imap connection", lambda: connect("imap connection", imap.host, imap.port)),
        ("imap folder", sign_in),
    ]


async def _token(imap: ImapSettings) -> str:
    assert imap.oauth is not None
    try:
        return await access_token(imap.oauth)
    except CorrespondentError as error:
        remedy = "grant access anew and put the new refresh token into inboxes.imap.oauth"
        raise Fault(Finding("imap token", False, str(error), remedy)) from error


def _look(imap: ImapSettings, token: str) -> str:
    """TLS, login and folder over one connection."""
    with _imap_faults(imap), enter(imap.model_copy(update={"timeout_s": TIMEOUT_S})) as client:
        login(client, imap, token)
        names = [name for _, _, name in client.list_folders()]
        if imap.folder not in names and imap.folder.upper() != "INBOX":
            raise Fault(_no_folder("folder", imap.folder, names))
        selected = client.select_folder(imap.folder, readonly=True)
        idle = "IDLE" if client.has_capability("IDLE") else f"no IDLE: looked at every {imap.poll_s:.0f} s"
        return f"{imap.folder} holds {selected.get(b'EXISTS', 0)} mails; {idle}; {_sent(client, imap, names)}"


def _sent(client: Any, imap: ImapSettings, names: list[str]) -> str:
    """What becomes of the Sent folder. Raises `Fault` where one is named that is not there."""
    if not (imap.read_sent or imap.keep_sent):
        return "the Sent folder is left alone"
    try:
        folder = sent_folder(client, imap)
    except NoSentFolder:
        return "no folder is marked as Sent, so colleagues' replies are not seen: set inboxes.imap.sent_folder"
    if folder not in names:
        raise Fault(_no_folder("sent_folder", folder, names))
    return f"sent mail in {folder}"


def _no_folder(setting: str, folder: str, names: list[str]) -> Finding:
    remedy = f"set inboxes.imap.{setting} to one of: {', '.join(sorted(names)[:20])}"
    return Finding("imap folder", False, f"there is no folder {folder!r}", remedy)


@contextmanager
def _imap_faults(imap: ImapSettings) -> Iterator[None]:
    try:
        yield
    except LoginError as error:
        remedy = "check user name and password; many providers want an app password, or OAuth (inboxes.imap.oauth)"
        raise Fault(Finding("imap login", False, f"{imap.username} is not let in: {error}", remedy)) from error
    except CapabilityError as error:
        remedy = 'the server has no STARTTLS: use port 993 and inboxes.imap.tls = "implicit"'
        raise Fault(Finding("imap tls", False, str(error), remedy)) from error
    except ssl.SSLCertVerificationError as error:
        remedy = "use the name that the certificate is for; for a CA of your own set SSL_CERT_FILE"
        raise Fault(Finding("imap tls", False, f"the certificate is not trusted: {error}", remedy)) from error
    except ssl.SSLError as error:
        remedy = 'the port does not speak TLS: use 993, or set inboxes.imap.tls = "none" for a server of your own'
        raise Fault(Finding("imap tls", False, f"TLS failed: {error}", remedy)) from error
    except (IMAP4.error, OSError) as error:
        remedy = "this is no IMAP server, or it expects TLS: check inboxes.imap.port and inboxes.imap.tls"
        raise Fault(Finding("imap session", False, f"the session ended: {error!r}", remedy)) from error
