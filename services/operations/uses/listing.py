"""What facts were used for, for people."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from services.core.db import Connection, queries, rows_as

SQL = queries(__file__)


@dataclass(frozen=True, slots=True)
class FactUse:
    """How often a fact stood in the context of a reply, and how often it answered a question of a mail; when last."""

    fact_id: UUID
    shown: int
    asked: int
    shown_at: datetime | None
    asked_at: datetime | None


async def uses_of(conn: Connection, fact_ids: Sequence[UUID]) -> dict[UUID, FactUse]:
    """Those of some facts by their ids; of one that was never shown since it is counted there is none."""
    rows = await rows_as(conn, FactUse, SQL.uses, {"fact_ids": list(fact_ids)})
    return {one.fact_id: one for one in rows}
