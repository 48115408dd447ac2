"""Tasks that the deployment does once a day, in the process that keeps time.

One process at a time goes through a round of a task; when that dies, another, or the same after its start, goes through
it again. When it came to its end stands in the table `upkeep`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import NAMESPACE_OID, uuid5

import structlog
from psycopg.types.json import Jsonb

from services.core.app import App
from services.core.clock import pause
from services.core.db import fetch_one, queries
from services.core.db.locks import HeldElsewhere
from services.core.settings import Settings

log = structlog.get_logger(__name__)

SQL = queries(__file__, "daily.sql")
LOOK_EVERY_S = 600.0
EVERY = timedelta(days=1)
AGAIN = timedelta(hours=1)  # after a round in which a step failed
TOLD_PERIODS = "periods"  # the task whose last round the figures of memory show
Report = dict[str, Any]


@dataclass(frozen=True, slots=True)
class DailyTask:
    """A task by its name. `round` does it until the event is set, and says what came of it; `failed` names steps."""

    name: str
    wanted: Callable[[Settings], bool]
    round: Callable[[App, asyncio.Event], Awaitable[Report]]


async def keep(task: DailyTask, app: App, stop: asyncio.Event) -> None:
    """Go through a round each day, until `stop` is set; returns at once where the settings do not want the task."""
    while task.wanted(app.settings) and not stop.is_set():
        try:
            await if_due(task, app, stop)
        except Exception as error:
            log.warning(f"{task.name} could not be seen to, will try again", error=repr(error))
        await pause(stop, LOOK_EVERY_S)


async def if_due(task: DailyTask, app: App, stop: asyncio.Event) -> bool:
    """Go through a round if the last one is a day ago and nobody else is at it; whether it was."""
    try:
        async with app.locks.hold(uuid5(NAMESPACE_OID, f"{task.name}/{app.settings.workspace}")):
            if not _is_due(await last(task.name, app), app.now()):
                return False
            await _whole_round(task, app, stop)
            return True
    except HeldElsewhere:
        return False


async def last(name: str, app: App) -> dict[str, Any] | None:
    """The last round of the task of this name: `begun_at`, `done_at`, and its `report`; None before the first."""
    async with app.database.reading() as conn:
        return await fetch_one(conn, SQL.upkeep, {"workspace": app.settings.workspace, "task": name})


async def _whole_round(task: DailyTask, app: App, stop: asyncio.Event) -> None:
    named = {"workspace": app.settings.workspace, "task": task.name}
    async with app.database.reading() as conn:
        await conn.execute(SQL.begin_upkeep, {**named, "at": app.now()})
    report = await task.round(app, stop)
    if stop.is_set():
        return
    ended = None if report.get("failed") else app.now()
    async with app.database.reading() as conn:
        await conn.execute(SQL.end_upkeep, {**named, "done_at": ended, "report": Jsonb(report)})
    log.info(f"went through {task.name}", **{name.replace(" ", "_"): count for name, count in report.items()})


def _is_due(row: dict[str, Any] | None, now: datetime) -> bool:
    """A clock that was set back is no reason to wait for longer than a day."""
    if row is None:
        return True
    if row["report"].get("failed"):
        return bool(abs(now - row["begun_at"]) >= AGAIN)
    return row["done_at"] is None or row["done_at"] < row["begun_at"] or bool(abs(now - row["done_at"]) >= EVERY)
