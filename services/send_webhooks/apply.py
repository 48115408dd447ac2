"""Applies the events of endpoints to their tables. A rebuild calls these alone, in version order."""

from __future__ import annotations

from schemas.events import webhooks as ev
from services.core.bus.appliers import fields_of, runs
from services.core.bus.envelope import Envelope
from services.core.bus.unit import Appliers
from services.core.db import Connection, queries

SQL = queries(__file__)


async def _failed(conn: Connection, envelope: Envelope) -> None:
    event = envelope.data
    assert isinstance(event, ev.WebhookFailed)
    args = fields_of(envelope)
    await conn.execute(SQL.set_failed, args)
    if event.refused:
        await conn.execute(SQL.note_refused, args)


APPLIERS: Appliers = {
    ev.WebhookQueued: runs(SQL.insert_delivery),
    ev.WebhookRequeued: runs(SQL.set_waiting),
    ev.WebhookDelivered: runs(SQL.set_delivered, SQL.note_taken),
    ev.WebhookDeferred: runs(SQL.set_deferred, SQL.note_refused),
    ev.WebhookFailed: _failed,
    ev.EndpointDisabled: runs(SQL.fail_waiting, SQL.note_disabled),
}
