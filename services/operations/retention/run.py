"""Goes through a round of retention, once; a step that fails does not keep the next ones from being gone through."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass

import structlog

from services.core.app import App
from services.core.settings import Settings
from services.operations.daily import DailyTask, Report
from services.operations.retention.rounds import Clearing, Step, today
from services.operations.retention.steps import STEPS

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Done:
    """What became of a step: of how much it took care, or why it could not."""

    step: Step
    count: int
    after: str
    error: str = ""


def wanted(settings: Settings) -> tuple[Step, ...]:
    """The steps that the settings ask for."""
    return tuple(one for one in STEPS if one.days(settings))


def after(step: Step, clearing: Clearing) -> str:
    """How old a thing is when it goes, in words."""
    return f"{step.days(clearing.settings):g} d"


async def preview(clearing: Clearing) -> AsyncIterator[Done]:
    """What would go now, step by step. Nothing changes."""
    for step in wanted(clearing.settings):
        yield Done(step, await step.due(clearing), after(step, clearing))


async def run(clearing: Clearing) -> AsyncIterator[Done]:
    """Go through the steps. What could not be done is said, and is tried again in the next round."""
    for step in wanted(clearing.settings):
        if clearing.stop.is_set():
            return
        try:
            yield Done(step, await step.go(clearing), after(step, clearing))
        except Exception as error:
            log.warning("a step of retention failed, will try again", step=step.name, error=repr(error))
            yield Done(step, 0, after(step, clearing), f"{type(error).__name__}: {error}"[:500])


# Retention as a task of each day.


async def _round(app: App, stop: asyncio.Event) -> Report:
    done = [one async for one in run(Clearing(app, today(app.now()), stop))]
    failed = [one.step.name for one in done if one.error]
    return {"failed": failed} | {one.step.name: one.error or one.count for one in done}


RETENTION = DailyTask("retention", lambda settings: bool(wanted(settings)), _round)
