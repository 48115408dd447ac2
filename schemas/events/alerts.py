"""A person is needed, and what became of telling them.

A call says that somebody has to look at a thread. Alerts are what the operator's people are told of it, by channel (an
address, a webhook): these events hold ids and times alone, what is told is read from the calls when it is told.
"""

from __future__ import annotations

from datetime import datetime
from typing import ClassVar, Literal
from uuid import UUID

from pydantic import Field

from schemas.events.base import Effect, EventData, Impersonal

CallKind = Literal[
    "escalated", "mail_waits", "deadline_near", "deadline_missed", "draft_waits", "system", "incident", "mentioned"
]


class PersonCalled(EventData):
    """A thread needs a person: it was escalated, a mail or a draft waits, a deadline is near or missed.

    `system`: the deployment itself needs its operator; `incident`: several customers report the same trouble. Then
    the thread is none of a customer; of an incident it is the incident's id. `mentioned`: a note asks one colleague
    to look, and they alone are told.
    """

    TYPE: ClassVar[str] = "person.called.v1"
    TOPIC: ClassVar[str] = "calls"
    SKELETON: ClassVar[frozenset[str]] = frozenset({"inbox", "kind"})

    thread_id: UUID
    participant_id: UUID | None = None
    inbox: str
    kind: CallKind
    reason: str = ""
    mail_id: UUID | None = Field(None, description="the mail that waits")
    reply_id: UUID | None = Field(None, description="the draft that waits")
    person: str = Field("", description="the colleague whom a note asks to look")


class AlertEvent(Impersonal):
    """An event of a channel: the alerts that wait there, and the mails or calls in which they went."""

    TYPE: ClassVar[str] = ""
    TOPIC: ClassVar[str] = "alerts"
    AGGREGATE: ClassVar[str] = "alert_channel"

    channel_id: UUID

    def aggregate_id(self) -> UUID:
        """The channel."""
        return self.channel_id


class AlertRaised(AlertEvent):
    """A call is to be told in this channel."""

    TYPE: ClassVar[str] = "alert.raised.v1"

    alert_id: UUID
    call_id: UUID = Field(description="the event that called")
    thread_id: UUID
    kind: CallKind


class AlertsGrouped(AlertEvent):
    """Alerts that waited go out together, under one id that every attempt carries."""

    TYPE: ClassVar[str] = "alerts.grouped.v1"

    digest_id: UUID
    alert_ids: tuple[UUID, ...]
    message_id: str = Field("", description="of a mail; without angle brackets")
    grouped_at: datetime = Field(description="by the wall clock, from which the days of retries count")


class AlertsSent(AlertEvent):
    """The channel took them."""

    TYPE: ClassVar[str] = "alerts.sent.v1"

    digest_id: UUID
    attempt: int
    response: str = ""
    sent_at: datetime = Field(description="by the wall clock, from which the pause between two counts")


class AlertsDeferred(AlertEvent, Effect):
    """The channel did not take them now; a timer tries again."""

    TYPE: ClassVar[str] = "alerts.deferred.v1"

    digest_id: UUID
    attempt: int
    error: str
    retry_at: datetime


class AlertsFailed(AlertEvent):
    """The days of attempts are over, or the channel refused for good: nobody was told there."""

    TYPE: ClassVar[str] = "alerts.failed.v1"

    digest_id: UUID
    attempt: int
    error: str
    failed_at: datetime
