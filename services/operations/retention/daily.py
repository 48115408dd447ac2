"""Retention as a task of each day."""

from __future__ import annotations

import asyncio

from services.core.app import App
from services.operations.daily import DailyTask, Report
from services.operations.retention.rounds import Clearing, today
from services.operations.retention.run import run, wanted


async def _round(app: App, stop: asyncio.Event) -> Report:
    done = [one async for one in run(Clearing(app, today(app.now()), stop))]
    failed = [one.step.name for one in done if one.error]
    return {"failed": failed} | {one.step.name: one.error or one.count for one in done}


RETENTION = DailyTask("retention", lambda settings: bool(wanted(settings)), _round)
