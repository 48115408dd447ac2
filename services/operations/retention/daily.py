"""The daily round of the deployment, in the process that keeps time.

One process at a time goes through it; when that dies, another, or the same after its start, goes through it again. When
it came to its end stands in the table `upkeep`.
"""

from __future__ import annotations

import asyncio
from datetime import datetime, timedelta
from typing import Any
from uuid import NAMESPACE_OID, uuid5

import structlog
from psycopg.types.json import Jsonb

from services.core.app import App
from services.core.clock import pause
from services.core.db import fetch_one
from services.core.db.locks import HeldElsewhere
from services.operations.retention.ask import SQL
from services.operations.retention.rounds import Clearing, today
from services.operations.retention.run import run, wanted

log = structlog.get_logger(__name__)

TASK = "retention"
LOOK_EVERY_S = 600.0
EVERY = timedelta(days=1)
AGAIN = timedelta(hours=1)  # after a round in which a step failed


async def keep(app: App, stop: asyncio.Event) -> None:
    """Go through a round each day, until `stop` is set; returns at once where the settings keep everything."""
    while wanted(app.settings) and not stop.is_set():
        try:
            await if_due(app, stop)
        except Exception as error:
            log.warning("retention could not be seen to, will try again", error=repr(error))
        await pause(stop, LOOK_EVERY_S)


async def if_due(app: App, stop: asyncio.Event) -> bool:
    """Go through a round if the last one is a day ago and nobody else is at it; whether it was."""
    try:
        async with app.locks.hold(uuid5(NAMESPACE_OID, f"{TASK}/{app.settings.workspace}")):
            if not _is_due(await last(app), app.now()):
                return False
            await _whole_round(app, stop)
            return True
    except HeldElsewhere:
        return False


async def last(app: App) -> dict[str, Any] | None:
    """The last round: `begun_at`, `done_at`, and a `report` by step; None before the first."""
    async with app.database.reading() as conn:
        return await fetch_one(conn, SQL.upkeep, {"workspace": app.settings.workspace, "task": TASK})


async def _whole_round(app: App, stop: asyncio.Event) -> None:
    task = {"workspace": app.settings.workspace, "task": TASK}
    async with app.database.reading() as conn:
        await conn.execute(SQL.begin_upkeep, {**task, "at": app.now()})
    done = [one async for one in run(Clearing(app, today(app.now()), stop))]
    if stop.is_set():
        return
    report: dict[str, Any] = {"failed": [one.step.name for one in done if one.error]}
    report |= {one.step.name: one.error or one.count for one in done}
    ended = None if report["failed"] else app.now()
    async with app.database.reading() as conn:
        await conn.execute(SQL.end_upkeep, {**task, "done_at": ended, "report": Jsonb(report)})
    log.info("went through retention", **{name.replace(" ", "_"): count for name, count in report.items()})


def _is_due(row: dict[str, Any] | None, now: datetime) -> bool:
    """A clock that was set back is no reason to wait for longer than a day."""
    if row is None:
        return True
    if row["report"].get("failed"):
        return bool(abs(now - row["begun_at"]) >= AGAIN)
    return row["done_at"] is None or row["done_at"] < row["begun_at"] or bool(abs(now - row["done_at"]) >= EVERY)
