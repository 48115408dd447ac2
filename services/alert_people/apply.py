"""Applies the events of channels to their tables. A rebuild calls these alone, in version order."""

from __future__ import annotations

from schemas.events import alerts as ev
from services.core.bus.envelope import Envelope
from services.core.bus.unit import Appliers, Apply
from services.core.db import Connection, queries

SQL = queries(__file__)


def _one(statement: str) -> Apply:
    async def apply(conn: Connection, envelope: Envelope) -> None:
        args = {**envelope.data.model_dump(), "workspace": envelope.workspace, "at": envelope.time}
        await conn.execute(getattr(SQL, statement), args)

    return apply


async def _grouped(conn: Connection, envelope: Envelope) -> None:
    event = envelope.data
    assert isinstance(event, ev.AlertsGrouped)
    args = {**event.model_dump(), "workspace": envelope.workspace, "alert_ids": list(event.alert_ids)}
    await conn.execute(SQL.insert_digest, args)
    await conn.execute(SQL.put_into_digest, args)


APPLIERS: Appliers = {
    ev.AlertRaised: _one("insert_alert"),
    ev.AlertsGrouped: _grouped,
    ev.AlertsSent: _one("set_sent"),
    ev.AlertsDeferred: _one("set_deferred"),
    ev.AlertsFailed: _one("set_failed"),
}
