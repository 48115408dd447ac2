"""Which facts go because nothing has renewed them for long, where the settings keep facts for a time only. Pure.

Invariants: a pinned fact stays; so does a fact that one which stays was derived from.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID


@dataclass(frozen=True, slots=True)
class Age:
    """A fact, and when something last renewed it."""

    fact_id: UUID
    pinned: bool
    renewed_at: datetime
    parents: Collection[UUID] = ()


def expired(facts: Collection[Age], before: datetime) -> tuple[UUID, ...]:
    """The ids of the facts that go, in order."""
    going = {one.fact_id for one in facts if not one.pinned and one.renewed_at < before}
    while held := {parent for one in facts if one.fact_id not in going for parent in one.parents} & going:
        going -= held
    return tuple(sorted(going))
