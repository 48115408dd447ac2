"""Asks the tables' owners to let go of what is older than it is to be kept.

The same day gives the same events: asked again, an owner finds in its journal that it has answered.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from typing import LiteralString
from uuid import UUID, uuid5

from schemas.events import EventData
from schemas.events.retention import MailRetentionDue, MemoryRetentionDue
from schemas.events.threads import TimerElapsed
from services.core.bus import event_store as history
from services.core.bus.envelope import first
from services.core.bus.runner import publish
from services.core.db import fetch_all, fetch_one, queries
from services.operations.retention.rounds import BATCH, Clearing

SQL = queries(__file__)
NAME = "keep_time"
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
    count = 0
    async for ids in _due(clearing, SQL.due_people, clearing.settings.retention.facts_days):
        count += len(ids)
    return count


async def ask_threads(clearing: Clearing) -> int:
    """Ask track_threads about each thread with texts that are too old; how many."""
    return await _ask(clearing, SQL.due_threads, clearing.settings.retention.bodies_days, _timers)


async def ask_mails(clearing: Clearing) -> int:
    """Ask read_email about mails with texts that are too old; how many."""
    return await _ask(clearing, SQL.due_mails, clearing.settings.retention.bodies_days, _mails)


async def ask_people(clearing: Clearing) -> int:
    """Ask learn_facts about each person of whom something is too old; how many."""
    return await _ask(clearing, SQL.due_people, clearing.settings.retention.facts_days, _people)


async def _count(clearing: Clearing, query: LiteralString) -> int:
    before = clearing.before(clearing.settings.retention.bodies_days)
    async with clearing.app.database.reading() as conn:
        row = await fetch_one(conn, query, {"workspace": clearing.workspace, "before": before})
    return int(row["n"]) if row else 0


async def _ask(clearing: Clearing, query: LiteralString, days: float, make: Make) -> int:
    count = 0
    async for ids in _due(clearing, query, days):
        await _enter(clearing, make(clearing, ids))
        count += len(ids)
    return count


async def _due(clearing: Clearing, query: LiteralString, days: float) -> AsyncIterator[list[UUID]]:
    """The ids of what is due and rests, many at a time."""
    args = {"workspace": clearing.workspace, "before": clearing.before(days), "limit": BATCH}
    after: UUID | None = FIRST
    while after and not clearing.stop.is_set():
        async with clearing.app.database.reading() as conn:
            rows = await fetch_all(conn, query, {**args, "after": after})
        if ids := [row["id"] for row in rows if row["rests"]]:
            yield ids
        after = rows[-1]["id"] if rows else None


async def _enter(clearing: Clearing, asked: list[tuple[UUID, EventData]]) -> None:
    events = [first(data, id=id, source=NAME, time=clearing.day, workspace=clearing.workspace) for id, data in asked]
    async with clearing.app.database.transaction(clearing.workspace) as conn:
        stored = await history.store(conn, events)
    await publish(clearing.app, stored)


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


def _id(clearing: Clearing, of: UUID) -> UUID:
    return uuid5(of, f"retention/{clearing.day:%Y-%m-%d}")
