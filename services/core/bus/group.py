"""One processor at work in this process: Faust consumes, lanes order, the runner handles."""

from __future__ import annotations

import asyncio
import functools

from services.core.bus.delivery import Delivery
from services.core.bus.faust_source import FaustSource, SourceSettings
from services.core.bus.lanes import LaneLimits, Lanes
from services.core.bus.processor import Processor
from services.core.bus.retry import RetryPolicy
from services.core.bus.runner import Runner
from services.core.house import House

LOOK_AGAIN_S = 1.0
EMBEDDED_FETCH_S = 0.1  # it answers a fetch after half of what it may wait, record or no record
EMBEDDED_METADATA_S = 2  # it forgets its topics when it ends, and they are made one after the other
EMBEDDED_SESSION_S = 6  # the embedded broker lets a group wait for half of it


def make_source(processor: Processor, house: House) -> FaustSource:
    """The consumer of one processor, ready to be started in the running loop."""
    settings = house.settings
    kafka, bounds = settings.kafka, settings.lanes
    runner = Runner(processor, house)
    limits = LaneLimits(bounds.running, bounds.admitted, bounds.timeout_s, RetryPolicy(budget_s=bounds.retry_s))
    topics = tuple(kafka.topic_prefix + topic for topic in processor.topics)
    source = SourceSettings(
        brokers=kafka.brokers,
        group=runner.group,
        topics=topics,
        client_id=f"correspondent-{processor.name}",
        session_timeout_s=EMBEDDED_SESSION_S if kafka.embedded else kafka.session_timeout_s,
        fetch_wait_s=EMBEDDED_FETCH_S if kafka.embedded else 0.5,
        metadata_age_s=EMBEDDED_METADATA_S if kafka.embedded else 60,
        rebalance_timeout_s=kafka.rebalance_timeout_s,
    )
    lanes = Lanes(
        runner.handle,
        lane_of=runner.lane_of,
        give_up=runner.give_up,
        limits=limits,
        gate=functools.partial(_while_paused, house) if processor.asks_model else None,
    )
    return FaustSource(source, lanes)


async def _while_paused(house: House, _: Delivery) -> None:
    """Wait for as long as the model's circuit is open: these turns are late, not failed."""
    while wait_s := house.model.wait_s:  # noqa: ASYNC110 - the pause is a time, nobody announces its end
        await asyncio.sleep(min(wait_s, LOOK_AGAIN_S))
