"""What follows from an attempt: taken, tried again, given up; and when an endpoint is disabled. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID, uuid5

from schemas.events import EventData
from schemas.events.alerts import PersonCalled
from schemas.events.webhooks import EndpointDisabled, WebhookDeferred, WebhookDelivered, WebhookFailed
from schemas.webhook_payloads import TEST
from services.core.retries import next_delivery
from services.core.settings import OutgoingWebhookSettings
from services.core.signed_post import Answer
from services.send_webhooks.endpoints import Endpoint

UNREADABLE = "what it is about can no longer be read: somebody was erased, or it is in the archive"


@dataclass(frozen=True, slots=True)
class Webhook:
    """What an endpoint is to be told, with how many attempts were made."""

    webhook_id: UUID
    endpoint_id: UUID
    event_id: UUID
    kind: str
    thread_id: UUID | None
    attempt: int
    queued_at: datetime


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of one attempt: an answer, or in words why there was none."""

    answer: Answer | None = None
    error: str = ""
    asked: bool = True

    @property
    def status(self) -> int:
        """The answer's HTTP status; 0 without one."""
        return self.answer.status if self.answer else 0

    @property
    def is_gone(self) -> bool:
        """Whether the endpoint says that it wants nothing more, ever."""
        return self.answer is not None and self.answer.is_gone

    @property
    def is_refused(self) -> bool:
        """Whether the endpoint was asked, and did not take it."""
        return self.asked and not (self.answer is not None and self.answer.is_success)

    @property
    def words(self) -> str:
        """What was wrong."""
        if self.answer is None:
            return self.error
        if self.answer.is_redirect:
            return f"{self.answer.words}, and a redirect is not followed: register the final address"
        return self.answer.words


def events_of(
    webhook: Webhook, endpoint: Endpoint | None, outcome: Outcome, now: datetime, settings: OutgoingWebhookSettings
) -> Iterator[EventData]:
    """The events of one attempt that ended `now`; `endpoint` as it is now, None where it was removed meanwhile."""
    attempt = {"endpoint_id": webhook.endpoint_id, "webhook_id": webhook.webhook_id, "attempt": webhook.attempt + 1}
    if not outcome.asked:
        yield WebhookFailed(**attempt, error=outcome.error, refused=False)
    elif not outcome.is_refused:
        yield WebhookDelivered(**attempt, status=outcome.status)
    else:
        yield _refused(webhook, attempt, outcome, now, settings)
        why = _why_disabled(endpoint, outcome, now, settings) if endpoint is not None else ""
        if endpoint is not None and why:
            yield EndpointDisabled(endpoint_id=webhook.endpoint_id, reason=why)
            yield _call(endpoint, why, now)


def _refused(
    webhook: Webhook, attempt: dict[str, Any], outcome: Outcome, now: datetime, settings: OutgoingWebhookSettings
) -> EventData:
    said = {**attempt, "status": outcome.status}
    retry_at = next_delivery(now, webhook.attempt + 1, webhook.queued_at, settings.retry_days)
    if outcome.is_gone:
        return WebhookFailed(**said, error=outcome.words)
    if webhook.kind == TEST:  # a person waits for what comes of it, and asks for another
        return WebhookFailed(**said, error=outcome.words)
    if retry_at is None:
        return WebhookFailed(**said, error=f"given up after {settings.retry_days:g} days: {outcome.words}")
    return WebhookDeferred(**said, error=outcome.words, retry_at=retry_at)


def _why_disabled(endpoint: Endpoint, outcome: Outcome, now: datetime, settings: OutgoingWebhookSettings) -> str:
    """Why the endpoint is to be told nothing more; "" where it is still, or is not told anyway."""
    if not endpoint.is_told:
        return ""
    if outcome.is_gone:
        return f"it answers {outcome.words}: nothing is wanted there any more"
    since = max(endpoint.failing_since, endpoint.enabled_at) if endpoint.failing_since else now
    if now - since < timedelta(days=settings.disable_days):
        return ""
    return f"it has taken nothing for {settings.disable_days:g} days; the last attempt: {outcome.words}"


def _call(endpoint: Endpoint, why: str, now: datetime) -> PersonCalled:
    about = uuid5(endpoint.endpoint_id, f"disabled {now.isoformat()}")
    reason = f"the webhook endpoint at {endpoint.host} was disabled: {why}; `correspondent webhooks list` shows it"
    return PersonCalled(thread_id=about, inbox="", kind="system", reason=reason)
