"""The Sent folder: which one it is, whether a mail lies in it, and a copy put there.

Many providers (Gmail, Microsoft 365) keep a copy of what is submitted to them by themselves. So a copy is looked
for before one is put there, and where a reply's fate is unknown, finding it there tells that it was sent.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from imapclient import SEEN
from imapclient.imapclient import SENT

from services.core.errors import Permanent
from services.core.settings import ImapSettings
from services.mail.imap.entry import enter, login

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
