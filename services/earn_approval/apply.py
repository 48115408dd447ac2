"""Applies approval events to their tables. A rebuild calls these alone, in version order."""

from __future__ import annotations

from schemas.events import approvals as ev
from services.core.bus.appliers import fields_of
from services.core.bus.envelope import Envelope
from services.core.bus.unit import Appliers, Apply
from services.core.db import Connection, queries

SQL = queries(__file__)


async def _counted(conn: Connection, envelope: Envelope) -> None:
    args = fields_of(envelope)
    await conn.execute(SQL.know, args)
    await conn.execute(SQL.insert_outcome, args)
    await conn.execute(SQL.count_pattern, args)


def _stepped(is_open: bool) -> Apply:
    async def apply(conn: Connection, envelope: Envelope) -> None:
        args = fields_of(envelope)
        await conn.execute(SQL.know, args)
        await conn.execute(SQL.set_open, {**args, "is_open": is_open})

    return apply


APPLIERS: Appliers = {
    ev.ApprovalCounted: _counted,
    ev.ApprovalOpened: _stepped(True),
    ev.ApprovalClosed: _stepped(False),
}
