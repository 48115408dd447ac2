"""What follows from an attempt: taken, tried again, given up, and the endpoint disabled once."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest

from schemas.events.alerts import PersonCalled
from schemas.events.webhooks import EndpointDisabled, WebhookDeferred, WebhookDelivered, WebhookFailed
from schemas.webhook_payloads import TEST
from services.core.settings import OutgoingWebhookSettings
from services.core.signed_post import Answer
from services.send_webhooks.decide import Outcome, Webhook, events_of
from services.send_webhooks.endpoints import Endpoint

NOW = datetime(2026, 3, 10, 12, tzinfo=UTC)
SETTINGS = OutgoingWebhookSettings()
ENDPOINT = Endpoint(
    endpoint_id=UUID(int=1),
    url="https://hooks.shop.example/SECRETPATH",
    kinds=("thread.opened",),
    with_text=False,
    secret=b"",
    former_secret=None,
    former_until=None,
    created_at=NOW - timedelta(days=30),
    enabled_at=NOW - timedelta(days=30),
    paused_at=None,
    failing_since=None,
    disabled_at=None,
)
WEBHOOK = Webhook(UUID(int=2), UUID(int=1), UUID(int=3), "thread.opened", None, 0, NOW)


def answered(status: int) -> Outcome:
    return Outcome(Answer(status, is_redirect=300 <= status < 400, excerpt=""))


@pytest.mark.parametrize("status", [200, 201, 204, 299])
def test_any_2xx_takes_it(status: int) -> None:
    """Whatever was wrong before."""
    failing = replace(ENDPOINT, failing_since=NOW - timedelta(days=20))
    (event,) = events_of(WEBHOOK, failing, answered(status), NOW, SETTINGS)
    assert event == WebhookDelivered(endpoint_id=UUID(int=1), webhook_id=UUID(int=2), attempt=1, status=status)


@pytest.mark.parametrize("status", [301, 307, 400, 401, 404, 429, 500, 503, 999])
def test_anything_else_is_tried_again(status: int) -> None:
    """A minute later first, whatever the status."""
    (event,) = events_of(WEBHOOK, ENDPOINT, answered(status), NOW, SETTINGS)
    assert isinstance(event, WebhookDeferred)
    assert (event.status, event.retry_at) == (status, NOW + timedelta(minutes=1))


def test_after_the_days_of_retries_it_has_failed() -> None:
    """The days count from when it was queued."""
    late = replace(WEBHOOK, attempt=19, queued_at=NOW - timedelta(days=3))
    (event,) = events_of(late, ENDPOINT, Outcome(error="no answer in 10 s"), NOW, SETTINGS)
    assert isinstance(event, WebhookFailed)
    assert (event.error, event.attempt) == ("given up after 3 days: no answer in 10 s", 20)


def test_what_can_no_longer_be_read_is_not_the_endpoints_fault() -> None:
    """It fails, and does not count against the endpoint, however long that takes nothing."""
    failing = replace(ENDPOINT, failing_since=NOW - timedelta(days=20))
    (event,) = events_of(WEBHOOK, failing, Outcome(error="gone", asked=False), NOW, SETTINGS)
    assert isinstance(event, WebhookFailed)
    assert not event.refused


@pytest.mark.parametrize(
    ("failing_days", "enabled_days", "disabled"), [(6, 30, True), (5, 30, True), (4, 30, False), (6, 1, False)]
)
def test_days_without_a_success_disable_it(failing_days: float, enabled_days: float, *, disabled: bool) -> None:
    """The days count from the first refusal, or from when a person enabled it; people are called, without its path."""
    endpoint = replace(
        ENDPOINT,
        failing_since=NOW - timedelta(days=failing_days),
        enabled_at=NOW - timedelta(days=enabled_days),
    )
    events = list(events_of(WEBHOOK, endpoint, answered(500), NOW, SETTINGS))
    assert [type(one) for one in events[1:]] == ([EndpointDisabled, PersonCalled] if disabled else [])
    if disabled:
        call = events[-1]
        assert isinstance(call, PersonCalled)
        assert (call.kind, "hooks.shop.example" in call.reason, "SECRETPATH" in call.reason) == ("system", True, False)


@pytest.mark.parametrize(
    "endpoint", [None, replace(ENDPOINT, paused_at=NOW), replace(ENDPOINT, disabled_at=NOW - timedelta(hours=1))]
)
def test_an_endpoint_that_is_not_told_is_not_disabled_again(endpoint: Endpoint | None) -> None:
    """Removed, paused or disabled meanwhile: what came of the attempt is noted, and nothing more."""
    (event,) = events_of(WEBHOOK, endpoint, answered(410), NOW, SETTINGS)
    assert isinstance(event, WebhookFailed)


def test_gone_is_final() -> None:
    """410 is not tried again and disables the endpoint."""
    events = list(events_of(WEBHOOK, ENDPOINT, answered(410), NOW, SETTINGS))
    assert [type(one) for one in events] == [WebhookFailed, EndpointDisabled, PersonCalled]


def test_a_test_is_tried_once() -> None:
    """Whoever asked looks at what came of it, and asks for another."""
    (event,) = events_of(replace(WEBHOOK, kind=TEST), ENDPOINT, answered(500), NOW, SETTINGS)
    assert isinstance(event, WebhookFailed)
