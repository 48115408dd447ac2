"""The channels: those that the settings name, and the mail of each user of the console, for notes that name them.

A user's address stands in `users` alone: events hold the channel's id, which is made from the user's.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit
from uuid import UUID, uuid5

from schemas.events.alerts import PersonCalled
from services.core.db import Connection, fetch_all, queries
from services.core.ids import alert_channel_id
from services.core.mailbox import MailboxKey
from services.core.settings import AlertTarget, Settings

if TYPE_CHECKING:
    from schemas.events.threads import TimerElapsed

SQL = queries(__file__)


@dataclass(frozen=True, slots=True)
class Channel:
    """One target of the settings. Its id is made from its address, so that it is the same in every process."""

    id: UUID
    target: AlertTarget

    @property
    def label(self) -> str:
        """What people see of it. A webhook's path may be a secret, so only its host is shown."""
        if self.target.mail:
            return f"mail {self.target.mail}"
        return f"webhook {urlsplit(self.target.webhook).hostname}"

    @property
    def timer_id(self) -> UUID:
        """The one timer of the channel."""
        return uuid5(self.id, "alert")


def channels(settings: Settings) -> tuple[Channel, ...]:
    """Every channel, in an order in which all processes lock them; a target that is named twice is one."""
    found = {}
    for one in settings.alerts.to:
        way, place = ("mail", MailboxKey(one.mail)) if one.mail else ("webhook", one.webhook)
        id = alert_channel_id(settings.workspace, way, place)
        found[id] = Channel(id, one)
    return tuple(found[id] for id in sorted(found))


def called(settings: Settings, call: PersonCalled) -> tuple[Channel, ...]:
    """The channels that a request for a person is sent to."""
    return tuple(one for one in channels(settings) if one.target.wants(call.kind, call.inbox))


async def called_by_name(conn: Connection, settings: Settings, call: PersonCalled) -> tuple[Channel, ...]:
    """The channel of the colleague whom a note names; none where they have no address, or have left."""
    return tuple(one for name, one in await _of_users(conn, settings) if name == call.person)


def channel_of(settings: Settings, timer: TimerElapsed) -> Channel | None:
    """The channel of the settings whose timer came due."""
    return next((one for one in channels(settings) if one.timer_id == timer.timer_id), None)


async def channel_of_user(conn: Connection, settings: Settings, timer: TimerElapsed) -> Channel | None:
    """The user's channel whose timer came due; None where they have no address any more, or have left."""
    return next((one for _, one in await _of_users(conn, settings) if one.timer_id == timer.timer_id), None)


async def _of_users(conn: Connection, settings: Settings) -> list[tuple[str, Channel]]:
    """The channels of users by their names. An inbox of ours is none, since the alert would come in as a mail."""
    if not settings.inboxes and not settings.alerts.sender:
        return []
    ours = {one.undetailed for one in settings.own_addresses}
    rows = await fetch_all(conn, SQL.users, {"workspace": settings.workspace})
    return [
        (row["name"], Channel(alert_channel_id(settings.workspace, "user", str(row["user_id"])), target))
        for row in rows
        if (target := AlertTarget(mail=row["email"])) and MailboxKey(target.mail).undetailed not in ours
    ]
