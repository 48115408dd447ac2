"""IMAP as every part of the deployment uses it (RFC 9051, RFC 3501): a client, the way in, and the Sent folder.

Blocking, for a thread. Raises `IMAP4.error`, `OSError`, or what IMAPClient says of an answer that makes no sense.
"""

import contextlib
import logging
import os
import socket
import ssl
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
from imapclient import SEEN, IMAPClient, SocketTimeout
from imapclient.imapclient import SENT

from services.core.errors import Permanent, Temporary
from services.core.keys.aead import NotAuthentic, seal, unseal
from services.core.keys.master import MasterKeys, read_master_keys
from services.core.settings import ImapSettings, OAuthSettings, Settings
from services.mail.tls import tls_context

__all__ = [
    "SENT_ROLE", "Client", "NoSentFolder", "TokenMissing", "TokenRefused", "TokenStore", "access_token", "enter",
    "keep_copy", "login", "sent_folder", "token_store", "was_sent",
]  # fmt: skip


# The way into an IMAP server: connect with deadlines, and log in.
# IMAPClient, fixed where IDLE can sleep through a mail.
#
# imaplib reads ahead: when `+ idling` and `* 4 EXISTS` come in one packet, the second line lies in its buffer, or in
# TLS's, while IMAPClient polls a silent socket until the next mail.


class Client(IMAPClient):  # type: ignore[misc]
    """An IMAP client whose `idle_check` sees what has already been read."""

    def take_news(self) -> bool:
        """Whether the server has said EXISTS since the last time, in the midst of other answers.

        It says so once, and may say it just before IDLE begins: unasked for, that mail would wait for the next one.
        """
        _, data = self._imap.response("EXISTS")
        return bool(data != [None])

    def _poll_socket(self, sock: Any, timeout: float | None = None) -> Any:
        """Called by `idle_check`, with the socket in non-blocking mode."""
        return self._read_ahead() or super()._poll_socket(sock, timeout)

    def _read_ahead(self) -> bytes:
        try:
            return bytes(self._imap.file.peek())
        except ssl.SSLWantReadError:
            return b""


CONNECT_TIMEOUT_S = 15
KEEPALIVE_S = 60

logging.getLogger("imapclient").setLevel(logging.WARNING)  # on DEBUG it would write passwords


def enter(imap: ImapSettings) -> Any:
    """A connected client, encrypted as the settings say, not logged in yet; every answer has its deadline.

    Raises `CaFileUnusable` in addition to what IMAPClient raises.
    """
    timeout = SocketTimeout(CONNECT_TIMEOUT_S, imap.timeout_s)
    context = tls_context(imap.ca_file) if imap.tls != "none" else None
    client: Any = Client(imap.host, imap.port, ssl=imap.tls == "implicit", ssl_context=context, timeout=timeout)
    client.normalise_times = False
    if imap.tls == "starttls":
        _encrypt(client, context)
    _keep_alive(client.socket())
    return client


def login(client: Any, imap: ImapSettings, token: str) -> None:
    """Log in with the token (XOAUTH2) or the password (PLAIN where offered, which alone carries UTF-8)."""
    password = imap.password.get_secret_value()
    if token:
        client.oauth2_login(imap.username, token)
    elif client.has_capability("AUTH=PLAIN"):
        client.plain_login(imap.username, password)
    else:
        client.login(imap.username, password)


def _encrypt(client: Any, context: ssl.SSLContext | None) -> None:
    """STARTTLS (RFC 9051, 6.2.1) with a checked certificate; a server without it gets no password."""
    try:
        client.starttls(context)
    except BaseException:
        with contextlib.suppress(OSError):  # a failed handshake has closed the socket
            client.shutdown()
        raise


def _keep_alive(connected: socket.socket) -> None:
    """Have the kernel notice a peer that vanished while we wait for news."""
    connected.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for option in ("TCP_KEEPIDLE", "TCP_KEEPINTVL"):
        if hasattr(socket, option):
            connected.setsockopt(socket.IPPROTO_TCP, getattr(socket, option), KEEPALIVE_S)


# The Sent folder: which one it is, whether a mail lies in it, and a copy put there.
#
# Many providers (Gmail, Microsoft 365) keep a copy of what is submitted to them by themselves. So a copy is looked
# for before one is put there, and where a reply's fate is unknown, finding it there tells that it was sent.
SENT_ROLE = "\\Sent"  # names the folder by its role (RFC 6154) where its name is not known yet


class NoSentFolder(Permanent):
    """The server marks no folder as the one for sent mail (RFC 6154), and none has a usual name for it."""


def sent_folder(client: Any, imap: ImapSettings) -> str:
    """The folder's name: as set, else the one that is marked or named so. Raises `NoSentFolder`."""
    found = imap.sent_folder or client.find_special_folder(SENT)
    if not found:
        raise NoSentFolder(f"{imap.host} marks no folder as Sent; set inboxes.imap.sent_folder")
    return str(found)


def was_sent(imap: ImapSettings, token: str, message_id: str) -> bool:
    """Whether a mail with this Message-ID lies in the Sent folder."""
    with _at_sent(imap, token) as (client, _):
        return _holds(client, message_id)


def keep_copy(imap: ImapSettings, token: str, raw: bytes, message_id: str) -> bool:
    """Put a mail into the Sent folder, as read, unless it is there; whether it was put there."""
    with _at_sent(imap, token) as (client, folder):
        if _holds(client, message_id):
            return False
        client.append(folder, raw, flags=[SEEN])
        return True


@contextmanager
def _at_sent(imap: ImapSettings, token: str) -> Iterator[tuple[Any, str]]:
    with enter(imap) as client:
        login(client, imap, token)
        folder = sent_folder(client, imap)
        client.select_folder(folder, readonly=True)
        yield client, folder


def _holds(client: Any, message_id: str) -> bool:
    return bool(client.search(["HEADER", "MESSAGE-ID", message_id]))


# OAuth of mailboxes: an access token at each connection, and refresh tokens in sealed files below `home`.
#
# The files are sealed with the master key: a copied folder opens no mailbox. Every process of a deployment needs the
# same folder and the same master keys. Providers that renew the refresh token at each use (Microsoft does) have the
# new one written in its place; the last writer wins, and each of them is valid.


class TokenMissing(Permanent):
    """There is no refresh token that this deployment can read; `correspondent inbox login NAME` gets one."""


@dataclass(frozen=True, slots=True)
class TokenStore:
    """The sealed files. `keys` are read when they are needed: the first start makes them."""

    home: Path
    keys: Callable[[], MasterKeys]

    def read(self, name: str) -> str:
        """The token in a file. Raises `TokenMissing`."""
        try:
            box = self._path(name).read_bytes()
        except OSError as error:
            raise TokenMissing(f"{self._path(name)} cannot be read; `correspondent inbox login` writes it") from error
        for secret in self.keys().secrets:
            try:
                return unseal(secret, box, name.encode()).decode()
            except NotAuthentic:
                continue
        raise TokenMissing(f"{self._path(name)} was sealed with another master key; `correspondent inbox login` again")

    def write(self, name: str, token: str) -> None:
        """Put a token into its file, in one step, readable by its owner alone."""
        path = self._path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        number, aside = tempfile.mkstemp(prefix=f"{path.name}.", dir=path.parent)
        with os.fdopen(number, "wb") as file:
            file.write(seal(self.keys().secrets[0], token.encode(), name.encode()))
        Path(aside).replace(path)

    def _path(self, name: str) -> Path:
        path = (self.home / name).resolve()
        if not path.is_relative_to(self.home.resolve()):
            raise TokenMissing(f"{name} does not lie below home")
        return path


def token_store(settings: Settings) -> TokenStore:
    """The deployment's."""
    given = settings.master_keys.get_secret_value()
    return TokenStore(Path(settings.home), lambda: read_master_keys(Path(settings.home), given))


# Access tokens for XOAUTH2: the refresh token grant (RFC 6749, section 6), asked for at each connection.
TIMEOUT_S = 20.0


class TokenRefused(Temporary):
    """The token server did not give an access token."""


async def access_token(
    oauth: OAuthSettings, tokens: TokenStore | None = None, transport: httpx.AsyncBaseTransport | None = None
) -> str:
    """A fresh access token; a refresh token that the server renewed is kept. Raises `TokenRefused`, `TokenMissing`.

    The errors say what the server said, never a secret.
    """
    refresh = oauth.refresh_token.get_secret_value()
    if oauth.refresh_token_file:
        if tokens is None:
            raise TokenMissing
        refresh = tokens.read(oauth.refresh_token_file)
    form = {
        "grant_type": "refresh_token",
        "client_id": oauth.client_id,
        "client_secret": oauth.client_secret.get_secret_value(),
        "refresh_token": refresh,
        "scope": oauth.scope,
    }
    try:
        async with httpx.AsyncClient(timeout=TIMEOUT_S, transport=transport) as client:
            answer = await client.post(oauth.token_url, data={name: value for name, value in form.items() if value})
            said = answer.json()
    except (httpx.HTTPError, ValueError) as error:
        raise TokenRefused(f"{oauth.token_url} gave no JSON answer: {error!r}") from error
    token = said.get("access_token") if isinstance(said, dict) else None
    if not isinstance(token, str) or not token:
        reason = said.get("error", "no reason") if isinstance(said, dict) else "no JSON object"
        raise TokenRefused(f"{oauth.token_url} answered {answer.status_code}: {reason}")
    renewed = said.get("refresh_token")
    if tokens and oauth.refresh_token_file and isinstance(renewed, str) and renewed not in ("", refresh):
        tokens.write(oauth.refresh_token_file, renewed)
    return token
