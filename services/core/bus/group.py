"""One processor at work in this process: Faust consumes, lanes order, the runner handles."""

from __future__ import annotations

from services.core.bus.faust_source import FaustSource, SourceSettings
from services.core.bus.lanes import LaneLimits, Lanes
from services.core.bus.processor import Processor
from services.core.bus.runner import Runner
from services.core.house import House

EMBEDDED_SESSION_S = 6  # the embedded broker lets a group wait for half of it


def make_source(processor: Processor, house: House) -> FaustSource:
    """The consumer of one processor, ready to be started in the running loop."""
    settings = house.settings
    kafka, lanes = settings.kafka, settings.lanes
    runner = Runner(processor, house)
    limits = LaneLimits(running=lanes.running, admitted=lanes.admitted, timeout_s=lanes.timeout_s)
    topics = tuple(kafka.topic_prefix + topic for topic in processor.topics)
    source = SourceSettings(
        brokers=kafka.brokers,
        group=runner.group,
        topics=topics,
        client_id=f"correspondent-{processor.name}",
        session_timeout_s=EMBEDDED_SESSION_S if kafka.embedded else 30,
    )
    return FaustSource(source, Lanes(runner.handle, lane_of=runner.lane_of, give_up=runner.give_up, limits=limits))
