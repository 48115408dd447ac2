"""The channels that the settings name: whom to alert, of what, and how."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit
from uuid import UUID, uuid5

from schemas.events.alerts import PersonCalled
from services.core.ids import alert_channel_id
from services.core.settings import AlertTarget, Settings
from services.mail.mailbox import MailboxKey

if TYPE_CHECKING:
    from schemas.events.threads import TimerElapsed


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


def is_timer_of(timer: TimerElapsed, channel: Channel) -> bool:
    """Whether a timer that came due is the channel's."""
    return timer.purpose == "alert" and timer.timer_id == channel.timer_id
