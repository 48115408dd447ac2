"""The way into an inbox: name, connection, TLS, login and folder."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from imaplib import IMAP4
from typing import Any

from imapclient.exceptions import CapabilityError, LoginError

from services.core.errors import CorrespondentError
from services.core.settings import ImapSettings
from services.mail.check.certificates import certificate_finding
from services.mail.check.steps import TIMEOUT_S, Fault, Finding, Step, connect, resolve
from services.mail.imap import NoSentFolder, TokenStore, access_token, enter, login, sent_folder
from services.mail.message import ParsedMail
from services.mail.mime import read_mail
from services.mail.tls import CaFileUnusable
from services.receive_email.check.results import STEP

MOST_MAILS = 50  # of the folder whose headers are looked at


def imap_steps(
    imap: ImapSettings, judge: Callable[[list[ParsedMail]], str], tokens: TokenStore | None = None
) -> list[tuple[str, Step]]:
    """The steps for one server; nothing is changed there. `judge` says what the newest mails show."""

    async def sign_in() -> str:
        token = await _token(imap, tokens) if imap.oauth else ""
        return await asyncio.to_thread(_look, imap, token)

    async def newest() -> str:
        return judge(await newest_mails(imap, tokens))

    return [
        ("imap dns", lambda: resolve("imap dns", imap.host, imap.port, "inboxes.imap.host")),
        ("imap connection", lambda: connect("imap connection", imap.host, imap.port)),
        ("imap folder", sign_in),
        (STEP, newest),
    ]


async def newest_mails(imap: ImapSettings, tokens: TokenStore | None = None) -> list[ParsedMail]:
    """The headers of the newest mails of the folder, left unread. Raises `Fault`."""
    token = await _token(imap, tokens) if imap.oauth else ""
    return await asyncio.to_thread(_newest, imap, token)


async def _token(imap: ImapSettings, tokens: TokenStore | None) -> str:
    assert imap.oauth is not None
    try:
        return await access_token(imap.oauth, tokens)
    except CorrespondentError as error:
        remedy = "grant access again: `correspondent inbox login NAME`"
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


def _newest(imap: ImapSettings, token: str) -> list[ParsedMail]:
    """The headers of the newest mails of the folder, left unread."""
    with _imap_faults(imap), enter(imap.model_copy(update={"timeout_s": TIMEOUT_S})) as client:
        login(client, imap, token)
        selected = client.select_folder(imap.folder, readonly=True)
        last = int(selected.get(b"EXISTS", 0))
        if not last:
            return []
        client.use_uid = False
        answers = client.fetch(list(range(max(1, last - MOST_MAILS + 1), last + 1)), ["BODY.PEEK[HEADER]"])
        return [read_mail(bytes(one[b"BODY[HEADER]"])) for one in answers.values() if one.get(b"BODY[HEADER]")]


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
    except (ssl.SSLCertVerificationError, CaFileUnusable) as error:
        finding = certificate_finding("imap tls", error, imap.host, "inboxes.imap")
        assert finding is not None
        raise Fault(finding) from error
    except ssl.SSLError as error:
        remedy = 'the port does not speak TLS: use 993, or set inboxes.imap.tls = "none" for a server of your own'
        raise Fault(Finding("imap tls", False, f"TLS failed: {error}", remedy)) from error
    except (IMAP4.error, OSError) as error:
        remedy = "this is no IMAP server, or it expects TLS: check inboxes.imap.port and inboxes.imap.tls"
        raise Fault(Finding("imap session", False, f"the session ended: {error!r}", remedy)) from error
