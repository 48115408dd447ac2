"""What is said about a folder: its state at the server, what lies in it, up to where we have read, where that is."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from services.core.app import App
from services.core.settings import ImapSettings, InboxSettings
from services.mail.imap import SENT_ROLE


@dataclass(frozen=True, slots=True)
class Folder:
    """A selected folder (RFC 9051, 2.3.1.1): UIDs mean something only together with their UIDVALIDITY."""

    uidvalidity: int
    uidnext: int


@dataclass(frozen=True, slots=True)
class Listed:
    """A mail in a folder: UID, size in bytes (0 where the server does not tell), when the server got it."""

    uid: int
    size: int = 0
    internal_date: datetime | None = None


@dataclass(frozen=True, slots=True)
class Position:
    """All mail up to `last_uid` is on the log; mail that the server had before `begun_at` is not ours to answer."""

    uidvalidity: int
    last_uid: int
    begun_at: datetime


@dataclass(frozen=True, slots=True)
class FolderPlace:
    """One folder of one inbox in one deployment."""

    app: App
    inbox: InboxSettings
    imap: ImapSettings

    @property
    def outgoing(self) -> bool:
        """Whether it is the Sent folder: what lies there was written by us or by a colleague."""
        return self.imap.folder == SENT_ROLE

    @property
    def key(self) -> dict[str, Any]:
        """The folder's key in our tables."""
        return {"workspace": self.app.settings.workspace, "inbox": self.inbox.name, "folder": self.imap.folder}

    def source_key(self, uidvalidity: int, uid: int) -> str:
        """What names a mail at its server."""
        return f"{self.imap.folder}:{uidvalidity}:{uid}"
