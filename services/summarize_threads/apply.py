"""Applies `thread.summarized` to `thread_summaries`."""

from __future__ import annotations

from schemas.events.memory import ThreadSummarized
from services.core.bus.envelope import Envelope
from services.core.bus.unit import Appliers
from services.core.db import Connection, queries

SQL = queries(__file__)


async def _summarized(conn: Connection, envelope: Envelope) -> None:
    args = {**envelope.data.model_dump(), "workspace": envelope.workspace, "at": envelope.time}
    await conn.execute(SQL.upsert, args)


APPLIERS: Appliers = {ThreadSummarized: _summarized}
