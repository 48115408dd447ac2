"""Applies the events of the book to its tables. A rebuild calls these alone, in version order."""

from __future__ import annotations

from schemas.events import outreach as ev
from services.core.bus.envelope import Envelope
from services.core.bus.unit import Appliers, Apply
from services.core.db import Connection, queries

SQL = queries(__file__)


def _one(statement: str) -> Apply:
    async def apply(conn: Connection, envelope: Envelope) -> None:
        args = {**envelope.data.model_dump(), "workspace": envelope.workspace, "at": envelope.time}
        await conn.execute(getattr(SQL, statement), args)

    return apply


async def _unsubscribed(conn: Connection, envelope: Envelope) -> None:
    event = envelope.data
    assert isinstance(event, ev.OutreachUnsubscribed)
    args = {**event.model_dump(), "workspace": envelope.workspace, "at": envelope.time}
    await conn.execute(SQL.lift if event.lifted else SQL.unsubscribe, args)


APPLIERS: Appliers = {
    ev.OutreachProposed: _one("insert_outreach"),
    ev.OutreachChanged: _one("set_state"),
    ev.OutreachUnsubscribed: _unsubscribed,
}
