"""Applies the events of channels to their tables. A rebuild calls these alone, in version order."""

from __future__ import annotations

from schemas.events import alerts as ev
from services.core.bus.appliers import fields_of, runs
from services.core.bus.envelope import Envelope
from services.core.bus.unit import Appliers
from services.core.db import Connection, queries

SQL = queries(__file__)


async def _grouped(conn: Connection, envelope: Envelope) -> None:
    event = envelope.data
    assert isinstance(event, ev.AlertsGrouped)
    args = fields_of(envelope)
    await conn.execute(SQL.insert_digest, args)
    await conn.execute(SQL.put_into_digest, args)


APPLIERS: Appliers = {
    ev.AlertRaised: runs(SQL.insert_alert),
    ev.AlertsGrouped: _grouped,
    ev.AlertsSent: runs(SQL.set_sent),
    ev.AlertsDeferred: runs(SQL.set_deferred),
    ev.AlertsFailed: runs(SQL.set_failed),
}
