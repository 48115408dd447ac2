"""What is left of a stored event when its texts, or what was learned in it, are kept no longer.

It is sealed with the key that it had; a mark that can be read says since when, so that a replay can say so.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, LiteralString
from uuid import UUID

from schemas.events import EVENTS, EventData
from schemas.events.periods import PeriodCondensed
from services.core.bus.event_row import EventRow
from services.core.bus.sealing import sealed_with
from services.core.db import Connection, fetch_all, queries
from services.core.keys import Keys
from services.core.keys.aead import KEY
from services.core.settings import RetentionSettings
from services.core.settings.storage import log_days

if TYPE_CHECKING:  # whoever only asks what is gone loads nothing that removes
    from services.operations.retention.rounds import Clearing

SQL = queries(__file__)

# By which an event's row is found, next to its aggregate.
SUBJECTS = ("fact_id", "relation_id", "note_id", "investigation_id")


@dataclass(frozen=True, slots=True)
class Emptying:
    """One thing that goes out of stored events: which types hold it, what is left, and which may go."""

    name: str
    days: Callable[[RetentionSettings], float]
    bare: Callable[[EventData], EventData]
    types: tuple[str, ...]
    may_go: LiteralString

    @property
    def mark(self) -> str:
        """What an event carries that was emptied; no field of an event has such a name."""
        return f"${self.name}_gone"


BODIES = Emptying(
    "bodies",
    lambda settings: settings.bodies_days,
    EventData.without_words,
    tuple(name for name, event in EVENTS.items() if event.WORDS),
    SQL.emptied_bodies,
)
LEARNED = Emptying(
    "facts",
    lambda settings: settings.facts_days,
    EventData.without_learned,
    tuple(name for name, event in EVENTS.items() if event.LEARNED),
    SQL.emptied_facts,
)
PERIODS = Emptying(
    "periods",
    lambda settings: settings.periods.shortest_days and max(settings.periods.shortest_days, log_days()),
    EventData.without_learned,
    (PeriodCondensed.TYPE,),
    SQL.emptied_facts,
)
KINDS = MappingProxyType({one.name: one for one in (BODIES, LEARNED, PERIODS)})


async def choose(conn: Connection, what: Emptying, rows: Sequence[EventRow]) -> list[EventRow]:
    """Those of some opened rows that may go."""
    readable = [row for row in rows if not row.is_sealed]
    if not readable:
        return []
    args = {
        "ids": [row.id for row in readable],
        "types": [row.type for row in readable],
        "keys": [row.key for row in readable],
        "aggregates": [row.aggregate_id for row in readable],
        "versions": [row.version for row in readable],
        "subjects": [_subject(row) for row in readable],
        "times": [row.time for row in readable],
    }
    ids = {one["id"] for one in await fetch_all(conn, what.may_go, args)}
    return [row for row in readable if row.id in ids]


async def emptied(clearing: Clearing, keys: Keys, what: Emptying, row: EventRow) -> dict[str, Any]:
    """The data of an opened row as it is stored from now on."""
    envelope = row.envelope()
    bare = what.bare(envelope.data)
    marks = {name: row.data[name] for name in (one.mark for one in KINDS.values()) if name in row.data}
    marks[what.mark] = f"{clearing.day:%Y-%m-%d}"
    if row.sealed is None:
        return {**bare.model_dump(mode="json"), **marks}
    key = await keys.key(UUID(row.sealed[KEY]))
    found = sealed_with(replace(envelope, data=bare), key, marks).sealed
    assert found is not None
    return found


def gone_since(data: dict[str, Any]) -> dict[str, str]:
    """Of an opened event: what is kept of it no longer, and since which day."""
    return {name: data[one.mark] for name, one in KINDS.items() if one.mark in data}


def _subject(row: EventRow) -> UUID | None:
    found = next((row.data[name] for name in SUBJECTS if row.data.get(name)), None)
    return UUID(found) if found else None
