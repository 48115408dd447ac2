"""One processor running in this process: Faust consumes, lanes order, the runner handles."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from services.core.app import App
from services.core.bus.delivery import Delivery
from services.core.bus.faust_source import FaustSource, SourceSettings
from services.core.bus.fetch_pace import FetchPace
from services.core.bus.held_records import is_known, is_mine
from services.core.bus.lanes import LaneLimits, Lanes, Signals
from services.core.bus.processor import Processor
from services.core.bus.retry import RetryPolicy
from services.core.bus.runner import Runner
from services.core.outages.model import note

if TYPE_CHECKING:
    from services.core.metrics import Outcome

LOOK_AGAIN_S = 1.0
# A fetch that finds nothing is answered after half of what it may wait, whatever comes; when the broker ends it forgets
# its topics, and they are made one after the other.
EMBEDDED_PACE = FetchPace(
    wait_s=0.02, quiet_wait_s=0.02, pause_s=0.2, quiet_pause_s=3.0, plenty_pause_s=0.2, awake_s=0.4, metadata_s=2
)
UNHURRIED = replace(EMBEDDED_PACE, rung_pause_s=0.2)  # nobody waits for the background
EMBEDDED_SESSION_S = 6  # the embedded broker lets a group wait for half of it


def make_source(processor: Processor, app: App, generations: Callable[[], Mapping[str, int]] = dict) -> FaustSource:
    """The consumer of one processor, ready to be started in the running loop; `generations` are the topics'."""
    settings = app.settings
    kafka, bounds = settings.kafka, settings.lanes
    runner = Runner(processor, app)
    limits = LaneLimits(bounds.running, bounds.admitted, bounds.timeout_s, RetryPolicy(budget_s=bounds.retry_s))
    topics = tuple(kafka.topic_prefix + topic for topic in processor.topics)
    source = SourceSettings(
        brokers=kafka,
        group=runner.group,
        topics=topics,
        client_id=f"correspondent-{processor.name}",
        session_timeout_s=EMBEDDED_SESSION_S if kafka.embedded else kafka.session_timeout_s,
        pace=_pace(processor, kafka.embedded),
        rebalance_timeout_s=kafka.rebalance_timeout_s,
    )
    lanes = Lanes(
        runner.handle,
        lane_of=runner.lane_of,
        give_up=runner.give_up,
        skips=runner.skips,
        limits=limits,
        gate=functools.partial(_wait_for_turn, app, processor),
        signals=_signals(app, processor),
        at_work=settings.pool_size if processor.asks_model else None,
    )
    if not processor.background:
        app.reply_load.add(lambda: lanes.demand)
    listen = functools.partial(app.bell.listen, wants=functools.partial(_concerns, processor))
    return FaustSource(source, lanes, listen, generations)


def _concerns(processor: Processor, kind: str) -> bool:
    """Whether the processor does anything for a record of this type; one that says none may be anything."""
    return not kind or is_mine(processor, kind) or not is_known(kind)


def _pace(processor: Processor, embedded: bool) -> FetchPace:
    if not embedded:
        return FetchPace()
    return UNHURRIED if processor.background else EMBEDDED_PACE


def _signals(app: App, processor: Processor) -> Signals:
    metrics, name = app.metrics, processor.name

    def attempted(outcome: Outcome, seconds: float) -> None:
        metrics.attempted(name, outcome, seconds)
        if not processor.background:
            app.reply_load.ended()

    return Signals(
        attempted=attempted,
        retried=functools.partial(metrics.retried, name),
        gave_up=functools.partial(metrics.gave_up, name),
    )


async def _wait_for_turn(app: App, processor: Processor, _: Delivery) -> None:
    """Wait while replies are under way that go first, and while the model that is asked is away."""
    if processor.background:
        await app.reply_load.passed()
    if processor.asks_model:
        await _while_paused(app)


async def _while_paused(app: App) -> None:
    """Wait for as long as the model's circuit is open: these turns are late, not failed."""
    while wait_s := app.model.wait_s:
        await note(app)
        await asyncio.sleep(min(wait_s, LOOK_AGAIN_S))
