"""Webhooks that other programs get: what an endpoint is to be told, and what came of each attempt.

These events hold ids, numbers and words of ours alone. What an endpoint is told is made from the event that it is about
when it leaves, so that nothing of a person who was erased meanwhile leaves.
"""

from __future__ import annotations

from datetime import datetime
from typing import ClassVar, Literal
from uuid import UUID

from pydantic import Field

from schemas.events.base import Effect, EventData, Impersonal


class EndpointEvent(Impersonal):
    """An event of an endpoint: an address that an operator registered."""

    TYPE: ClassVar[str] = ""
    TOPIC: ClassVar[str] = "webhooks"
    AGGREGATE: ClassVar[str] = "webhook_endpoint"

    endpoint_id: UUID

    def aggregate_id(self) -> UUID:
        """The endpoint."""
        return self.endpoint_id


class WebhookQueued(EndpointEvent):
    """The endpoint is to be told of an event, under one id that every attempt carries."""

    TYPE: ClassVar[str] = "webhook.queued.v1"

    webhook_id: UUID = Field(description="the header webhook-id: made of the endpoint and the event")
    event_id: UUID = Field(description="the stored event that it is about; of a test, the request")
    kind: str = Field(description="the public type, as the receiver reads it")
    thread_id: UUID | None = Field(None, description="what orders it, where it is about a thread")
    queued_at: datetime = Field(description="by the wall clock, from which the days of retries count")


class WebhookDelivered(EndpointEvent, Effect):
    """The endpoint took it: it answered with a status of 200 to 299."""

    TYPE: ClassVar[str] = "webhook.delivered.v1"

    webhook_id: UUID
    attempt: int
    status: int


class WebhookDeferred(EndpointEvent, Effect):
    """The endpoint did not take it now; a timer tries again."""

    TYPE: ClassVar[str] = "webhook.deferred.v1"

    webhook_id: UUID
    attempt: int
    status: int = Field(0, description="of the answer; 0: there was none")
    error: str
    retry_at: datetime


class WebhookFailed(EndpointEvent, Effect):
    """It is not tried any more: the days of attempts are over, or what it is about can no longer be read."""

    TYPE: ClassVar[str] = "webhook.failed.v1"

    webhook_id: UUID
    attempt: int
    status: int = Field(0, description="of the answer; 0: there was none")
    error: str
    refused: bool = Field(True, description="False: the endpoint is not to blame, and was not asked")


class WebhookRequeued(EndpointEvent):
    """A person wants it delivered again, under the same id; the days of retries begin again."""

    TYPE: ClassVar[str] = "webhook.requeued.v1"

    webhook_id: UUID
    by: str = ""
    queued_at: datetime


class EndpointDisabled(EndpointEvent, Effect):
    """The endpoint took nothing for days, or is gone: it is told nothing more until a person enables it again."""

    TYPE: ClassVar[str] = "webhook.endpoint_disabled.v1"

    reason: str


class WebhookRequested(EventData):
    """A person asks something of an endpoint; send_webhooks does it, or finds that there is nothing to do.

    `test`: send a test; `again`: deliver one again; `resume`: the endpoint is enabled again, look at what waits.
    """

    TYPE: ClassVar[str] = "webhook.requested.v1"
    TOPIC: ClassVar[str] = "webhooks"

    endpoint_id: UUID
    op: Literal["test", "again", "resume"]
    webhook_id: UUID | None = Field(None, description="what is to be delivered again")
    by: str = ""
