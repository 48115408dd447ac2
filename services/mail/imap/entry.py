"""The way into an IMAP server: connect with deadlines, and log in."""

from __future__ import annotations

import contextlib
import logging
import socket
import ssl
from typing import Any

from imapclient import IMAPClient, SocketTimeout

from services.core.settings import ImapSettings
from services.mail.tls import tls_context

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
