"""Counts which facts stood in contexts of replies, answered what a mail asked, or are cited, as a task of each day.

Invariants
- It reads what is stored anyway, afterwards: nothing is written on the way to a reply.
- A batch's counts and how far it went are one transaction: who dies in between counts nothing twice.
- Of somebody erased nothing can be read, and nothing is kept; a fact that is gone takes its counts along.

What was counted is shown to people by `fact_uses.py`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from schemas.events.replies import MemoryLoaded, ReplyDrafted
from services.core.app import App
from services.core.db import fetch_all, fetch_one, queries
from services.core.keys import is_sealed
from services.core.settings import Settings
from services.operations.daily import DailyTask, Report
from services.operations.history_lock import hold

SQL = queries(__file__, "uses.sql")
BATCH = 500
UNSEEN_S = 600.0  # what was stored later may still have somebody before it who has not committed
TOPICS = [MemoryLoaded.TOPIC, ReplyDrafted.TOPIC]
UNKNOWN = "nothing"  # what memory answers to a question of a mail where no fact does


@dataclass(slots=True)
class Use:
    """How often a fact was shown, how often it answered a question, how often a draft cites it, and when last."""

    shown: int = 0
    asked: int = 0
    cited: int = 0
    shown_at: datetime | None = None
    asked_at: datetime | None = None
    cited_at: datetime | None = None


async def count(app: App, stop: asyncio.Event) -> Report:
    """Go on from where the last round ended; how many `contexts` were counted."""
    contexts = 0
    while not stop.is_set():
        rows = await _batch(app)
        contexts += sum(row["type"] == MemoryLoaded.TYPE for row in rows)
        if len(rows) < BATCH:
            break
    async with app.database.transaction(app.settings.workspace) as conn:
        await conn.execute(SQL.clear, {"workspace": app.settings.workspace})
    return {"contexts": contexts}


async def _batch(app: App) -> list[dict[str, Any]]:
    workspace = app.settings.workspace
    async with app.database.transaction(workspace) as conn:
        await hold(conn)
        kept = await fetch_one(conn, SQL.counted, {"workspace": workspace})
        after = kept["seq"] if kept else -1
        args = {"workspace": workspace, "after": after, "topics": TOPICS}
        rows = await fetch_all(conn, SQL.contexts, {**args, "limit": BATCH, "unseen_s": UNSEEN_S})
        uses = used(row for row in rows if not is_sealed(row["data"]))
        columns = {name: [getattr(one, name) for one in uses.values()] for name in Use.__slots__}
        await conn.execute(SQL.count, {"fact_ids": list(uses), **columns})
        await conn.execute(SQL.keep_counted, {"workspace": workspace, "seq": rows[-1]["seq"] if rows else after})
    return rows


def used(rows: Iterable[Mapping[str, Any]]) -> dict[UUID, Use]:
    """The uses of facts in some stored contexts and drafts, in order."""
    uses: dict[UUID, Use] = {}
    for row in rows:
        for id in row["data"].get("facts_cited", ()):
            one = uses.setdefault(UUID(id), Use())
            one.cited, one.cited_at = one.cited + 1, row["time"]
        layers = [one for one in row["data"].get("layers", ()) if one["name"] == "participant"]
        items = [one for layer in layers for one in layer.get("items", ())]
        for id in (item["id"] for item in items if "id" in item):
            one = uses.setdefault(UUID(id), Use())
            one.shown, one.shown_at = one.shown + 1, row["time"]
        for id in {item["fact"] for item in items if item.get("recall", UNKNOWN) != UNKNOWN and item.get("fact")}:
            one = uses.setdefault(UUID(id), Use())
            one.asked, one.asked_at = one.asked + 1, row["time"]
    return uses


def wanted(settings: Settings) -> bool:
    """Whether facts may leave the prompt, which is what is counted for."""
    return bool(settings.recall.unused_days)


USES = DailyTask("uses", wanted, count)
