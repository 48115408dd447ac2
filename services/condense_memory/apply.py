"""Applies period events to `memory_periods`. A rebuild calls these alone, in version order."""

from __future__ import annotations

from psycopg.types.json import Jsonb

from schemas.events.periods import PeriodCondensed, PeriodsExpired
from services.core.bus.envelope import Envelope
from services.core.bus.unit import Appliers
from services.core.db import Connection, queries

SQL = queries(__file__)


async def _condensed(conn: Connection, envelope: Envelope) -> None:
    data = envelope.data
    assert isinstance(data, PeriodCondensed)
    args = {
        **data.model_dump(include={"participant_id", "grain", "period", "starts_at", "ends_at", "left_out"}),
        "workspace": envelope.workspace,
        "text": " ".join(one.text for one in data.sentences),
        "sentences": Jsonb([one.model_dump(mode="json") for one in data.sentences]),
        "row_ids": [one.id for one in data.rows],
        "row_marks": [one.mark for one in data.rows],
        "dropped": list(data.dropped),
        "calls": data.usage.calls,
        "version": envelope.version,
        "made_at": envelope.time,
    }
    await conn.execute(SQL.tell, args)


async def _expired(conn: Connection, envelope: Envelope) -> None:
    data = envelope.data
    assert isinstance(data, PeriodsExpired)
    ids = {"fact_ids": list(data.fact_ids), "period_ids": list(data.period_ids)}
    await conn.execute(SQL.expire, {"participant_id": data.participant_id, **ids})


APPLIERS: Appliers = {PeriodCondensed: _condensed, PeriodsExpired: _expired}
