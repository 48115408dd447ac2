"""Applies the events of a board to its tables. A rebuild calls these alone, in version order."""

from __future__ import annotations

from schemas.events import incidents as ev
from services.core.bus.envelope import Envelope
from services.core.bus.unit import Appliers, Apply
from services.core.db import Connection, queries

SQL = queries(__file__)


def _one(*statements: str) -> Apply:
    async def apply(conn: Connection, envelope: Envelope) -> None:
        told = envelope.data.model_dump()
        args = {**told, "workspace": envelope.workspace, "at": envelope.time}
        args |= {name: list(one) for name, one in told.items() if isinstance(one, tuple)}
        for name in statements:
            await conn.execute(getattr(SQL, name), args)

    return apply


APPLIERS: Appliers = {
    ev.TroubleReported: _one("insert_report"),
    ev.IncidentOpened: _one("insert_incident", "put_into_incident"),
    ev.IncidentClosed: _one("close_incident"),
    ev.IncidentReopened: _one("reopen_incident"),
}
