"""What people ask of send_webhooks: a test, a webhook again, and to look at what waits for an endpoint."""

from __future__ import annotations

from typing import Literal
from uuid import UUID, uuid5

from schemas.events.webhooks import WebhookRequested
from services.core.app import App
from services.core.clock import until
from services.core.db import row_as
from services.core.errors import Permanent
from services.operations.requests import decision_on
from services.operations.webhooks.endpoints import SQL, enable_endpoint
from services.operations.webhooks.listing import DeliveryLine, EndpointLine, EndpointUnknown, endpoint_line

CONSUMER = "send_webhooks"


class WebhookRefused(Permanent):
    """The endpoint is not told anything now."""


async def send_test(app: App, endpoint_id: UUID, *, by: str, timeout_s: float) -> DeliveryLine:
    """Send a test, and wait for what comes of it as long as `timeout_s`. Raises `EndpointUnknown`, `NotDecidedYet`."""
    await endpoint_line(app, endpoint_id)
    asked = await _ask(app, endpoint_id, "test", by=by, timeout_s=timeout_s)
    return await _outcome(app, endpoint_id, uuid5(asked, f"{CONSUMER}:test"), timeout_s)


async def deliver_again(app: App, endpoint_id: UUID, webhook_id: UUID, *, by: str, timeout_s: float) -> DeliveryLine:
    """Deliver a webhook again, under its id. Raises `EndpointUnknown`, `WebhookRefused` or `NotDecidedYet`."""
    endpoint = await endpoint_line(app, endpoint_id)
    if await _delivery(app, endpoint_id, webhook_id) is None:
        raise EndpointUnknown("this endpoint was told no such webhook")
    if endpoint.state != "enabled":
        raise WebhookRefused(f"the endpoint is {endpoint.state}: resume it first")
    await _ask(app, endpoint_id, "again", webhook_id=webhook_id, by=by, timeout_s=timeout_s)
    return await _outcome(app, endpoint_id, webhook_id, timeout_s)


async def resume(app: App, endpoint_id: UUID, *, by: str, timeout_s: float) -> EndpointLine:
    """Enable an endpoint, and send what waits for it. Raises `EndpointUnknown` or `NotDecidedYet`."""
    line = await enable_endpoint(app, endpoint_id)
    await _ask(app, endpoint_id, "resume", by=by, timeout_s=timeout_s)
    return line


async def _ask(
    app: App,
    endpoint_id: UUID,
    op: Literal["test", "again", "resume"],
    *,
    by: str,
    timeout_s: float,
    webhook_id: UUID | None = None,
) -> UUID:
    asked = WebhookRequested(endpoint_id=endpoint_id, op=op, webhook_id=webhook_id, by=by)
    return await decision_on(app, asked, CONSUMER, timeout_s=timeout_s)


async def _outcome(app: App, endpoint_id: UUID, webhook_id: UUID, timeout_s: float) -> DeliveryLine:
    """The webhook once it was tried, or as it stands when the time is over."""

    async def tried() -> DeliveryLine | None:
        line = await _delivery(app, endpoint_id, webhook_id)
        return line if line and (line.attempt or line.state != "waiting") else None

    found = await until(tried, timeout_s) or await _delivery(app, endpoint_id, webhook_id)
    if found is None:
        raise EndpointUnknown
    return found


async def _delivery(app: App, endpoint_id: UUID, webhook_id: UUID) -> DeliveryLine | None:
    args = {"workspace": app.settings.workspace, "endpoint_id": endpoint_id, "webhook_id": webhook_id}
    async with app.database.reading() as conn:
        return await row_as(conn, DeliveryLine, SQL.delivery, args)
