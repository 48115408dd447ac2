"""Periods of people's memory: which are to be told, asked for daily, and how they stand, for people to see.

Invariants
- A period's event has an id of its own, whenever and however often it is asked for: it is told once, after days in
  which nothing ran, too.
- No day has more calls than `condense.calls_a_day`: what was told today counts, and what was asked for and is not told
  yet, unless it became a dead letter. What is left is asked for on the next days, what ended first before the rest.
"""

from __future__ import annotations

import asyncio
import heapq
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any, get_args
from uuid import UUID, uuid5

from schemas.events.periods import PeriodEnded
from schemas.model_output import Grain
from services.core.app import App
from services.core.bus import event_store
from services.core.bus.envelope import first
from services.core.bus.runner import publish
from services.core.db import fetch_all, fetch_one, queries, rows_as
from services.keep_time.keeper import KEEP_TIME
from services.memory.condensed import CondensedPeriod, kept, search_periods
from services.memory.embeddings import meanings
from services.memory.grains import UNITS, kept_since, name_of, reach_of
from services.memory.periods import period
from services.memory.questions import read
from services.operations.daily import TOLD_PERIODS, DailyTask, Report
from services.operations.retention.rounds import today

SQL = queries(__file__, "periods.sql")
GRAINS: tuple[Grain, ...] = get_args(Grain)
PEOPLE = 200  # that one statement looks at
FIRST = UUID(int=0)


@dataclass(frozen=True, order=True, slots=True)
class Due:
    """A period that is over and not told, in the order in which they are asked for."""

    ends_at: datetime
    fineness: int
    participant_id: UUID
    starts_at: datetime

    @property
    def event(self) -> PeriodEnded:
        """The event that asks for it."""
        grain = GRAINS[self.fineness]
        return PeriodEnded(
            participant_id=self.participant_id,
            grain=grain,
            period=name_of(grain, self.starts_at),
            starts_at=self.starts_at,
            ends_at=self.ends_at,
        )

    @property
    def event_id(self) -> UUID:
        """Its id, the same whenever it is asked for."""
        return uuid5(self.participant_id, f"period/{GRAINS[self.fineness]}/{self.event.period}")


async def ask(app: App, stop: asyncio.Event) -> Report:
    """Ask for the periods that are due, as many as the day has calls left.

    How many were `asked`, were asked for before and are `waiting`, and are `left` for another day.
    """
    day = today(app.now())
    found: list[Due] = []
    waiting = total = 0
    args = {"workspace": app.settings.workspace, "since": day}
    async with app.database.reading() as conn:
        row = await fetch_one(conn, SQL.calls, args)
    room = app.settings.condense.calls_a_day - (row["calls"] if row else 0)
    async for due in _due(app, day, stop):
        async with app.database.reading() as conn:
            ids = [one.event_id for one in due]
            asked = {row["id"]: row["waits"] for row in await fetch_all(conn, SQL.asked, {"ids": ids})}
        waiting += sum(asked.values())
        fresh = [one for one in due if one.event_id not in asked]
        total += len(fresh)
        found = heapq.nsmallest(max(room, 0), [*found, *fresh])
    chosen = sorted(found)[: max(room - waiting, 0)]
    await _enter(app, day, [] if stop.is_set() else chosen)
    return {"asked": len(chosen), "waiting": waiting, "left": total - len(chosen)}


async def _due(app: App, day: datetime, stop: asyncio.Event) -> AsyncIterator[list[Due]]:
    """What is due of some people at a time. Each grain is asked for as far back as it is shown and kept."""
    reach = app.settings.recall.grains
    args: dict[str, Any] = {
        "workspace": app.settings.workspace,
        "moment": day,
        "rows_from": app.settings.condense.rows_from,
        "grains": list(GRAINS),
        "units": [UNITS[one] for one in GRAINS],
        "begins": [reach_of(one, day, reach) for one in GRAINS],
        "running": [period(UNITS[one], day).start for one in GRAINS],
        "limit": PEOPLE,
    }
    since = [kept_since(one, day, app.settings.retention.periods) for one in GRAINS]
    after: UUID | None = FIRST
    while after and not stop.is_set():
        async with app.database.reading() as conn:
            row = await fetch_one(conn, SQL.people, {**args, "after": after})
            people = row["ids"] if row else []
            rows = await fetch_all(conn, SQL.due, {**args, "people": people}) if people else []
        yield [one for one in map(_as_due, rows) if one.ends_at > since[one.fineness]]
        after = people[-1] if people else None


def _as_due(row: dict[str, Any]) -> Due:
    grain: Grain = row["grain"]
    starts_at: datetime = row["starts_at"]
    return Due(period(UNITS[grain], starts_at).end, GRAINS.index(grain), row["participant_id"], starts_at)


async def _enter(app: App, day: datetime, chosen: list[Due]) -> None:
    """One event, one transaction; of who was erased meanwhile nothing is stored."""
    workspace = app.settings.workspace
    for one in chosen:
        async with app.database.transaction(workspace) as conn:
            if await fetch_one(conn, SQL.known, {"participant_id": one.participant_id}) is None:
                continue
            event = first(one.event, id=one.event_id, source=KEEP_TIME, time=day, workspace=workspace)
            stored = await event_store.store(conn, [event])
        await publish(app, stored)


PERIODS = DailyTask(TOLD_PERIODS, lambda settings: settings.condense.enabled, ask)


# A person's told periods for people: the latest, or those that answer a question; and whether each still stands.
MOST = 20  # unless more are asked for


async def periods_of(
    app: App, participant_id: UUID, *, grain: Grain | None = None, limit: int = MOST
) -> list[CondensedPeriod]:
    """The latest so many periods of a person that were told, the last that ended first."""
    args: dict[str, Any] = {
        "workspace": app.settings.workspace,
        "participant_id": participant_id,
        "moment": app.now(),
        "grain": grain,
        "limit": limit,
    }
    async with app.database.reading() as conn:
        told = await rows_as(conn, CondensedPeriod, SQL.told, args)
    return kept(told, args["moment"], app.settings.retention.periods)


async def find_periods(
    app: App, participant_id: UUID, text: str, *, now: datetime, limit: int = MOST
) -> list[CondensedPeriod]:
    """The person's told periods that stand and answer a question, best first."""
    asked = read(text, now)
    (meaning,) = await meanings(app.embedder, [asked.words or " "])
    async with app.database.transaction(app.settings.workspace) as conn:
        keep = app.settings.retention.periods
        return await search_periods(
            conn, participant_id, asked.words, meaning, now, keep, window=asked.window, limit=limit
        )
