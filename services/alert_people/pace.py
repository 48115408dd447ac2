"""When a channel is alerted next. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal
from uuid import UUID

from services.core.settings import AlertSettings

DigestState = Literal["grouped", "sent", "failed"]


@dataclass(frozen=True, slots=True)
class Digest:
    """The newest mail or call of a channel. `changed_at` is when it was last tried, by the wall clock."""

    digest_id: UUID
    state: DigestState
    attempt: int
    message_id: str
    grouped_at: datetime
    changed_at: datetime
    retry_at: datetime | None


def due(waiting_since: datetime | None, newest: Digest | None, settings: AlertSettings) -> datetime | None:
    """When the channel's timer is to fire; None where nothing waits.

    The first alert waits a moment for others; after that the channel has its pause, or until it is tried again.
    """
    if newest is not None and newest.state == "grouped":
        return newest.retry_at or newest.grouped_at
    if waiting_since is None:
        return None
    gathered = waiting_since + timedelta(seconds=settings.gather_s)
    if newest is None:
        return gathered
    return max(gathered, newest.changed_at + timedelta(minutes=settings.every_minutes))
