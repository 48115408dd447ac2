"""Asks the tables' owners to let go of what is older than it is to be kept.

The same day gives the same events: asked again, an owner finds in its journal that it has answered.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, LiteralString
from uuid import UUID, uuid5

from schemas.events import EventData
from schemas.events.investigations import InvestigationsRetentionDue
from schemas.events.periods import PeriodsRetentionDue
from schemas.events.retention import MailRetentionDue, MemoryRetentionDue
from schemas.events.threads import TimerElapsed
from services.core.bus import event_store
from services.core.bus.envelope import Envelope, first
from services.core.bus.runner import publish
from services.core.db import Connection, fetch_all, fetch_one, queries
from services.keep_time.keeper import KEEP_TIME
from services.memory.grains import UNITS, kept_since
from services.operations.retention.rounds import BATCH, Clearing

SQL = queries(__file__)
FIRST = UUID(int=0)

Make = Callable[[Clearing, Sequence[UUID]], list[tuple[UUID, EventData]]]


async def due_messages(clearing: Clearing) -> int:
    """How many messages of threads that rest have a text that is too old."""
    return await _count(clearing, SQL.count_messages)


async def due_mails(clearing: Clearing) -> int:
    """How many mails that nobody needs right now have a text that is too old."""
    return await _count(clearing, SQL.count_mails)


async def due_people(clearing: Clearing) -> int:
    """Of how many people something is remembered that nothing has renewed for so long."""
    return await _count_due(clearing, SQL.due_people, clearing.settings.retention.facts_days)


async def ask_threads(clearing: Clearing) -> int:
    """Ask track_threads about each thread with texts that are too old; how many."""
    return await _ask(clearing, SQL.due_threads, _timers, clearing.settings.retention.bodies_days)


async def ask_mails(clearing: Clearing) -> int:
    """Ask read_email about mails with texts that are too old; how many."""
    return await _ask(clearing, SQL.due_mails, _mails, clearing.settings.retention.bodies_days)


async def ask_people(clearing: Clearing) -> int:
    """Ask learn_facts about each person of whom something is too old; how many."""
    return await _ask(clearing, SQL.due_people, _people, clearing.settings.retention.facts_days)


async def due_periods(clearing: Clearing) -> int:
    """Of how many people something is told of periods that have had their time."""
    return await _count_due(clearing, SQL.due_periods, **_kept(clearing))


async def ask_periods(clearing: Clearing) -> int:
    """Ask condense_memory about each of them; how many."""
    return await _ask(clearing, SQL.due_periods, _periods, **_kept(clearing))


async def due_investigations(clearing: Clearing) -> int:
    """Of how many people investigations have words that are too old."""
    return await _count_due(clearing, SQL.due_investigations, clearing.settings.retention.bodies_days)


async def ask_investigations(clearing: Clearing) -> int:
    """Ask investigate about each of them; how many."""
    return await _ask(clearing, SQL.due_investigations, _investigations, clearing.settings.retention.bodies_days)


def _kept(clearing: Clearing) -> dict[str, Any]:
    keep = clearing.settings.retention.periods
    return {"grains": list(UNITS), "since": [kept_since(one, clearing.day, keep) for one in UNITS]}


async def _count(clearing: Clearing, query: LiteralString) -> int:
    before = clearing.before(clearing.settings.retention.bodies_days)
    async with clearing.app.database.reading() as conn:
        row = await fetch_one(conn, query, {"workspace": clearing.workspace, "before": before})
    return int(row["n"]) if row else 0


async def _count_due(clearing: Clearing, query: LiteralString, days: float = 0, **more: Any) -> int:
    count = 0
    after: UUID | None = FIRST
    while after and not clearing.stop.is_set():
        async with clearing.app.database.reading() as conn:
            ids, after = await _due(conn, clearing, query, after, days, more)
        count += len(ids)
    return count


async def _ask(clearing: Clearing, query: LiteralString, make: Make, days: float = 0, **more: Any) -> int:
    """Found due and asked about while nobody erases: of whom an erase takes, no request is stored after it."""
    count = 0
    after: UUID | None = FIRST
    while after and not clearing.stop.is_set():
        async with clearing.alone() as conn:
            ids, after = await _due(conn, clearing, query, after, days, more)
            stored = await event_store.store(conn, _requests(clearing, make(clearing, ids))) if ids else []
        await publish(clearing.app, stored)
        count += len(ids)
    return count


async def _due(
    conn: Connection, clearing: Clearing, query: LiteralString, after: UUID, days: float, more: Mapping[str, Any]
) -> tuple[list[UUID], UUID | None]:
    """The ids of what is due and rests, many at a time, and after which one it goes on."""
    args = {"workspace": clearing.workspace, "before": clearing.before(days), "limit": BATCH, **more}
    rows = await fetch_all(conn, query, {**args, "after": after})
    return [row["id"] for row in rows if row["rests"]], rows[-1]["id"] if rows else None


def _requests(clearing: Clearing, asked: list[tuple[UUID, EventData]]) -> list[Envelope]:
    return [first(data, id=id, source=KEEP_TIME, time=clearing.day, workspace=clearing.workspace) for id, data in asked]


def _timers(clearing: Clearing, threads: Sequence[UUID]) -> list[tuple[UUID, EventData]]:
    return [
        (
            _id(clearing, one),
            TimerElapsed(timer_id=uuid5(one, "retention"), thread_id=one, purpose="retention", due_at=clearing.day),
        )
        for one in threads
    ]


def _mails(clearing: Clearing, mails: Sequence[UUID]) -> list[tuple[UUID, EventData]]:
    together = uuid5(mails[0], ",".join(map(str, mails)))
    return [(_id(clearing, together), MailRetentionDue(mail_id=mails[0], mail_ids=tuple(mails), due_at=clearing.day))]


def _people(clearing: Clearing, people: Sequence[UUID]) -> list[tuple[UUID, EventData]]:
    return [(_id(clearing, one), MemoryRetentionDue(participant_id=one, due_at=clearing.day)) for one in people]


def _periods(clearing: Clearing, people: Sequence[UUID]) -> list[tuple[UUID, EventData]]:
    return [
        (uuid5(one, f"periods/{clearing.day:%Y-%m-%d}"), PeriodsRetentionDue(participant_id=one, due_at=clearing.day))
        for one in people
    ]


def _investigations(clearing: Clearing, people: Sequence[UUID]) -> list[tuple[UUID, EventData]]:
    said = {"before": clearing.before(clearing.settings.retention.bodies_days), "due_at": clearing.day}
    return [
        (
            uuid5(one, f"investigations/{clearing.day:%Y-%m-%d}"),
            InvestigationsRetentionDue.model_validate({"participant_id": one, **said}),
        )
        for one in people
    ]


def _id(clearing: Clearing, of: UUID) -> UUID:
    return uuid5(of, f"retention/{clearing.day:%Y-%m-%d}")
