"""One attempt to tell an endpoint: the body is made of the stored event, signed and posted."""

from __future__ import annotations

from uuid import UUID

import structlog

from services.core.app import App
from services.core.bus import event_store
from services.core.bus.envelope import Envelope
from services.core.db import fetch_one
from services.core.keys import is_sealed
from services.core.signed_post import Limits, NotPosted, post_signed
from services.send_webhooks.decide import UNREADABLE, Outcome, Webhook
from services.send_webhooks.endpoints import Endpoint, SecretLost, secrets_of
from services.send_webhooks.payloads import body_of

log = structlog.get_logger(__name__)

AGENT = "correspondent (webhooks)"


async def attempt(app: App, workspace: str, endpoint: Endpoint, webhook: Webhook) -> Outcome:
    """What came of it. Raises nothing that is the endpoint's fault."""
    stored = await _stored(app, workspace, webhook.event_id)
    if stored is None:
        return Outcome(error=UNREADABLE, asked=False)
    body, now = body_of(webhook.kind, stored.data, stored.time, with_text=endpoint.with_text), app.now()
    try:
        secrets = secrets_of(app, endpoint, now)
        id = str(webhook.webhook_id)
        answer = await post_signed(endpoint.url, secrets, id, now, body, agent=AGENT, limits=limits_of(app))
    except (NotPosted, SecretLost) as error:
        log.warning("a webhook was not taken", webhook=str(webhook.webhook_id), host=endpoint.host, why=str(error))
        return Outcome(error=str(error))
    return Outcome(answer)


def limits_of(app: App) -> Limits:
    """What the settings allow of a call."""
    one = app.settings.outgoing_webhooks
    return Limits(one.timeout_s, "outgoing_webhooks.timeout_s", one.private_hosts, "outgoing_webhooks.private_hosts")


async def _stored(app: App, workspace: str, event_id: UUID) -> Envelope | None:
    """The event, None where nobody can read it any more."""
    async with app.database.transaction(workspace) as conn:
        row = await fetch_one(conn, event_store.SQL.by_id, {"id": event_id})
    return None if row is None or is_sealed(row["data"]) else event_store.envelope(row)
