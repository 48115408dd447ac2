"""IMAPClient, fixed where IDLE can sleep through a mail.

imaplib reads ahead: when `+ idling` and `* 4 EXISTS` come in one packet, the second line lies in its buffer, or in
TLS's, while IMAPClient polls a silent socket until the next mail.
"""

from __future__ import annotations

import ssl
from typing import Any

from imapclient import IMAPClient


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
