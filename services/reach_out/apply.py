"""Applies the events of the book to its tables. A rebuild calls these alone, in version order."""

from __future__ import annotations

from schemas.events import outreach as ev
from services.core.bus.appliers import fields_of, runs
from services.core.bus.envelope import Envelope
from services.core.bus.unit import Appliers
from services.core.db import Connection, queries

SQL = queries(__file__)


async def _unsubscribed(conn: Connection, envelope: Envelope) -> None:
    event = envelope.data
    assert isinstance(event, ev.OutreachUnsubscribed)
    args = fields_of(envelope)
    await conn.execute(SQL.lift if event.lifted else SQL.unsubscribe, args)


APPLIERS: Appliers = {
    ev.OutreachProposed: runs(SQL.insert_outreach),
    ev.OutreachChanged: runs(SQL.set_state),
    ev.OutreachUnsubscribed: _unsubscribed,
}
