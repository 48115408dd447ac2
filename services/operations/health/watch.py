"""Alerts of what stands still, in the process that keeps time: each problem when it is seen twice, and again daily.

An alert is an event (`person.called`, kind `system`) with an id made of the problem and the day, so that two processes,
or one that was started again, alert once.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from datetime import datetime
from uuid import NAMESPACE_OID, UUID, uuid5

import structlog
from prometheus_client.core import GaugeMetricFamily

from schemas.events.alerts import PersonCalled
from schemas.topics import catalogue
from services.core.app import App
from services.core.bus.envelope import first
from services.core.bus.runner import enter
from services.core.bus.undone_events import advance, pairs_of
from services.core.clock import pause
from services.core.metrics import gauge
from services.keep_time.keeper import KEEP_TIME
from services.operations.health.state import Health, read_health

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


# The last health reading as gauges: what `status` shows and alerts are made of, in the process that keeps time.


class HealthGauges:
    """Shows one reading until the next; before the first one it shows nothing."""

    def __init__(self) -> None:
        self.last: Health | None = None

    def families(self) -> Iterator[GaugeMetricFamily]:
        """The gauges."""
        found = self.last
        if found is None:
            return
        yield gauge("health_read_timestamp_seconds", "When this was read.", values=found.at.timestamp())
        yield gauge("broker_answers", "1 where the broker answered.", values=int(found.groups is not None))
        groups = {one.consumer: one for one in found.groups or ()}
        lag = {name: float(sum(place.records for place in one.behind)) for name, one in groups.items()}
        yield gauge("group_lag_records", "Records that a consumer group has not committed.", "consumer", lag)
        oldest = {name: one.oldest_s for name, one in groups.items()}
        yield gauge("group_oldest_seconds", "Age of a group's oldest unprocessed record.", "consumer", oldest)
        stalled = {name: float(len(one.stalled())) for name, one in groups.items()}
        yield gauge("group_stalled_partitions", "Partitions in which a group stands still.", "consumer", stalled)
        undone = {one.consumer: float(one.events) for one in found.undone}
        yield gauge("undone_events", "Events that a consumer has not done for over ten minutes.", "consumer", undone)
        unanswered = sum(one.mails for one in found.unanswered)
        yield gauge(
            "unanswered_mails",
            "Mails that wait although no turn is open, no timer runs and no person has them.",
            values=unanswered,
        )
        yield gauge("outbox_waiting", "Stored events that are due and not published.", values=found.outbox_waiting)
        yield gauge("outbox_refused", "Stored events that the broker refuses.", values=found.outbox_refused)
        yield gauge("held_records", "Records that wait for a newer version.", values=len(found.held))
        yield gauge("model_outage", "1 while the model is away and turns wait.", values=int(found.model is not None))
        yield gauge(
            "embedder_outage",
            "1 while the embedding service is away and turns wait.",
            values=int(found.embedder is not None),
        )
        unfetched = {row["inbox"]: float(row["mails"]) for row in found.unfetched}
        yield gauge("unfetched_mails", "Mails that an IMAP server does not hand over.", "inbox", unfetched)
        yield gauge(
            "problems", "What stands still, as `correspondent status` lists it.", values=len(list(found.problems()))
        )
