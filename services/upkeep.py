"""Everything that the deployment does by itself, again and again, as data: what, how often, and who starts it.

The process that runs `keep_time` goes through these rounds (`services/process.py`); besides, that edge itself fires due
timers, relays the outbox and makes the journal's partitions of the coming days (`services/keep_time/keeper.py`). Of
several such processes one at a time is at a round, or their rounds are made so that doing one twice does it once.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from functools import partial
from typing import Any

from services.core.app import App
from services.core.bus import log_recovery
from services.operations import daily, outreach
from services.operations.health import missed, watch
from services.operations.memory import restores
from services.operations.periods import PERIODS
from services.operations.preparation import topic_specs
from services.operations.retention.run import RETENTION
from services.operations.uses import USES
from services.operations.vectors import keep as vectors
from services.pipeline import consumers

DAY_S = daily.EVERY.total_seconds()


@dataclass(frozen=True, slots=True)
class Round:
    """What is done again and again. `keep` does it until the event is set, and looks each `every_s` seconds.

    A round of each day looks more often whether its day is over. `broker` says whether it needs one.
    """

    name: str
    every_s: float
    does: str
    keep: Callable[[App, asyncio.Event], Coroutine[Any, Any, None]]
    broker: bool = False


def log_keeper(app: App) -> AbstractAsyncContextManager[log_recovery.LogKeeper]:
    """What watches the log of the whole flow: every topic and every consumer."""
    return log_recovery.opened(app, topic_specs(app.settings), consumers())


async def _keep_log(app: App, stop: asyncio.Event) -> None:
    async with log_keeper(app) as keeper:
        await keeper.keep(stop)


async def _keep_missed(app: App, stop: asyncio.Event) -> None:
    await missed.MissedEvents(app).keep(stop)


UPKEEP: tuple[Round, ...] = (
    Round("log", log_recovery.LOOK_EVERY_S, "publish again what the broker lost", _keep_log, broker=True),
    Round("missed events", missed.LOOK_EVERY_S, "publish again what a consumer never got", _keep_missed, broker=True),
    Round("health", watch.LOOK_EVERY_S, "alert of what stands still, and show it as metrics", watch.keep, broker=True),
    Round("vectors", vectors.LOOK_EVERY_S, "embed what lacks a vector, and index the vectors", vectors.keep),
    Round("restores of memory", restores.LOOK_EVERY_S, "go on with a restore of a workspace's memory", restores.keep),
    Round("outreach", DAY_S, "ask reach_out about each inbox, in its office hours", outreach.keep),
    Round("retention", DAY_S, "let go of what is past its retention", partial(daily.keep, RETENTION)),
    Round("periods", DAY_S, "ask condense_memory to tell the periods that are over", partial(daily.keep, PERIODS)),
    Round("uses", DAY_S, "count which facts stood in prompts and were used", partial(daily.keep, USES)),
)
