"""Alerts of what stands still, in the process that keeps time: each problem when it is seen twice, and again daily.

An alert is an event (`person.called`, kind `system`) with an id made of the problem and the day, so that two processes,
or one that was started again, alert once.
"""

from __future__ import annotations

import asyncio
from datetime import datetime
from uuid import NAMESPACE_OID, UUID, uuid5

import structlog

from schemas.events.alerts import PersonCalled
from schemas.topics import catalogue
from services.core.app import App
from services.core.bus.envelope import first
from services.core.bus.runner import enter
from services.core.bus.undone_events import advance, pairs_of
from services.core.clock import pause
from services.keep_time.keeper import KEEP_TIME
from services.operations.health.gauges import HealthGauges
from services.operations.health.state import read_health

LOOK_EVERY_S = 60.0
MOST_AT_ONCE = 20  # problems in one look: what is behind a broker that is away is one problem, not a hundred

log = structlog.get_logger(__name__)


async def keep(app: App, stop: asyncio.Event) -> None:
    """Look every minute until `stop` is set; what goes wrong is said, and tried again."""
    before: frozenset[str] = frozenset()
    gauges = HealthGauges()
    app.metrics.show(gauges.families)
    while not stop.is_set():
        await pause(stop, LOOK_EVERY_S)
        if stop.is_set():
            return
        try:
            before = await look(app, before, gauges)
        except Exception as error:
            log.warning("health could not be read, will try again", error=repr(error))


async def look(app: App, before: frozenset[str], gauges: HealthGauges | None = None) -> frozenset[str]:
    """Say each problem, and alert of those that were there before, too; the keys of all. Moves low-water marks on."""
    await advance(app, pairs_of(catalogue().consumers()))
    health = await read_health(app)
    if gauges:
        gauges.last = health
    found = dict(list(health.problems())[:MOST_AT_ONCE])
    for key, words in found.items():
        log.error("stands still", problem=key, words=words)
        if key in before:
            call, id = _call(app, key, words), _id(app, key, app.now())
            named = first(call, id=id, source=KEEP_TIME, time=app.now(), workspace=app.settings.workspace)
            await enter(app, named)
    return frozenset(found)


def _call(app: App, key: str, words: str) -> PersonCalled:
    thread_id = uuid5(NAMESPACE_OID, f"{app.settings.workspace}/system/{key}")
    return PersonCalled(thread_id=thread_id, inbox="", kind="system", reason=words)


def _id(app: App, key: str, now: datetime) -> UUID:
    return uuid5(NAMESPACE_OID, f"{app.settings.workspace}/system/{key}/{now:%Y-%m-%d}")
