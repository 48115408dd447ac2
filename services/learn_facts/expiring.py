"""Lets go of what nothing has renewed for long, where the settings keep facts for a time only.

Invariants: a pinned fact stays; so does a fact that one which stays was derived from.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from schemas.events.retention import MemoryExpired, MemoryRetentionDue
from services.core.bus.work import Work
from services.learn_facts.apply_facts import SQL


@dataclass(frozen=True, slots=True)
class Age:
    """A fact, and when something last renewed it."""

    fact_id: UUID
    pinned: bool
    renewed_at: datetime
    parents: Collection[UUID] = ()


async def on_due(work: Work[MemoryRetentionDue]) -> None:
    """What of a participant's memory is older than it is to be kept goes, with the decisions about it."""
    days, who = work.app.settings.retention.facts_days, work.event.participant_id
    if not days:
        return
    async with work.unit() as unit:
        await unit.lock("participant", who)
        before = unit.now - timedelta(days=days)
        args = {"workspace": unit.workspace, "participant_id": who, "before": before}
        facts = expired([Age(**row) for row in await unit.all(SQL.ages, **args)], before)
        relations = tuple(row["relation_id"] for row in await unit.all(SQL.old_relations, **args))
        refusals = await unit.one(SQL.old_refusals, **args)
        if facts or relations or (refusals and refusals["there"]):
            await unit.record(MemoryExpired(participant_id=who, before=before, fact_ids=facts, relation_ids=relations))


def expired(facts: Collection[Age], before: datetime) -> tuple[UUID, ...]:
    """The ids of the facts that go, in order."""
    going = {one.fact_id for one in facts if not one.pinned and one.renewed_at < before}
    while held := {parent for one in facts if one.fact_id not in going for parent in one.parents} & going:
        going -= held
    return tuple(sorted(going))
