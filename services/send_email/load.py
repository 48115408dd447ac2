"""What a decision about a reply is made from: rows of the ledger, of the answered mail, of the turn and of a hold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID


@dataclass(frozen=True, slots=True)
class DeliveryRow:
    """A reply in the ledger. `message_id`, `blob` and `recipient` are empty while there is no finished message."""

    reply_id: UUID
    thread_id: UUID
    turn_id: UUID
    inbox: str
    state: str
    message_id: str
    blob: str
    recipient: str
    cc: Sequence[str]
    attempt: int
    retry_at: datetime | None
    departs_at: datetime | None
    changed_at: datetime
    sent_copy: str
    copy_attempt: int

    @property
    def ids(self) -> dict[str, Any]:
        """The ids that every event of the delivery carries."""
        return {"reply_id": self.reply_id, "thread_id": self.thread_id, "turn_id": self.turn_id}


@dataclass(frozen=True, slots=True)
class NewestMail:
    """The newest mail that a reply answers. Its author, as they wrote their address, is the one recipient."""

    mail_id: UUID
    message_id: str
    references_ids: Sequence[str]
    subject: str
    author_name: str
    author_addr: str
    identity: str
    trusted: bool
    flags: Sequence[str]
    received_at: datetime


@dataclass(frozen=True, slots=True)
class TurnNow:
    """What has become of a turn and its thread since a draft; `by` is the person whose own reply it is, or empty.

    `left_alone`: no rule of outreach would begin a mail to them by now.
    """

    open: bool | None
    state: str
    by: str
    newer: bool
    by_hand: bool
    unsubscribed: bool
    left_alone: bool


@dataclass(frozen=True, slots=True)
class SendingHold:
    """A restored deployment sends nothing; `taken_at` is the moment of the backup."""

    taken_at: datetime
    reason: str
