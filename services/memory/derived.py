"""Facts that were derived from others, when they are read: one whose parent has ended by itself is stale from then on.

Like decay, this is computed at reading time and never stored: time passes without an event. What is decided (a parent
was replaced or taken back) is marked by `learn_facts`, which marks what is found here at its next decision as well.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

from services.core.db import fetch_all
from services.core.db.pool import Connection
from services.core.db.sql import queries
from services.memory.facts import Fact

SQL = queries(__file__, "derived.sql")


@dataclass(frozen=True, slots=True)
class Rest:
    """A fact rests on a parent that ends by itself at `over_at` (None: never); it was last said at `confirmed_at`."""

    fact_id: UUID
    parent_id: UUID
    over_at: datetime | None
    confirmed_at: datetime


def lapsed(rests: Iterable[Rest], moment: datetime) -> dict[UUID, datetime]:
    """The facts that are stale at a moment since something that they rest on has ended by itself, each with since when.

    What was said again after that stands for itself, and so does what rests on it alone.
    """
    edges = tuple(rests)
    ends = {(one.over_at, one.parent_id) for one in edges if one.over_at and one.over_at <= moment}
    stale: dict[UUID, datetime] = {}
    for at, parent_id in sorted(ends):
        waiting = [parent_id]
        while waiting:
            ended = waiting.pop()
            touched = [one.fact_id for one in edges if one.parent_id == ended and one.confirmed_at < at]
            fresh = [fact_id for fact_id in dict.fromkeys(touched) if fact_id not in stale]
            stale |= dict.fromkeys(fresh, at)
            waiting += fresh
    return stale


def lightened(fact: Fact, weight: float) -> Fact:
    """The fact as a stale one weighs."""
    return replace(fact, weight=weight)


async def lapsed_among(
    conn: Connection,
    workspace: str,
    fact_ids: Sequence[UUID],
    moment: datetime,
    known_at: datetime | None = None,
) -> dict[UUID, datetime]:
    """Those of some facts that are stale at a moment by themselves, as was known at `known_at` (default: then)."""
    if not fact_ids:
        return {}
    args = {"workspace": workspace, "fact_ids": list(fact_ids), "valid_at": moment, "known_at": known_at or moment}
    return lapsed([Rest(**row) for row in await fetch_all(conn, SQL.rests, args)], moment)
