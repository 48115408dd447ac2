"""What facts were used for, for people: apart from the counting, which a command that lists facts need not load."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from services.core.db import Connection, queries, rows_as

SQL = queries(__file__, "uses.sql")


@dataclass(frozen=True, slots=True)
class FactUse:
    """How often a fact stood in a context, answered a question of a mail, and is cited by a draft; when last."""

    fact_id: UUID
    shown: int
    asked: int
    cited: int
    shown_at: datetime | None
    asked_at: datetime | None
    cited_at: datetime | None


async def uses_of(conn: Connection, fact_ids: Sequence[UUID]) -> dict[UUID, FactUse]:
    """Those of some facts by their ids; of one that was never used since it is counted there is none."""
    rows = await rows_as(conn, FactUse, SQL.uses, {"fact_ids": list(fact_ids)})
    return {one.fact_id: one for one in rows}
