"""How far each consumer group has come on the log, by the broker alone: read once for all who show it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from schemas.topics import catalogue
from services.core.app import App
from services.core.bus.delivery import Delivery, Partition
from services.core.bus.topics_admin import committed_by, ends
from services.operations.log import heads


@dataclass(frozen=True, slots=True)
class Progress:
    """The end of each partition of each topic; by consumer, the first record that it has not done of each partition."""

    ends: Mapping[Partition, int]
    behind: Mapping[str, Mapping[Partition, Delivery]]


async def read_progress(app: App) -> Progress:
    """Read it now. Raises what a broker that does not answer raises."""
    prefix, brokers = app.settings.kafka.topic_prefix, app.settings.kafka
    until = await ends(brokers, [prefix + name for name in catalogue().topics])
    consumers = sorted({name for _, name in catalogue().consumers()})
    places = {name: _places(prefix, name, until) for name in consumers}
    done = await committed_by(brokers, {prefix + name: found for name, found in places.items() if found})
    behind = {}
    for name, found in places.items():
        reached = done.get(prefix + name, {})
        left = {place: reached.get(place, 0) for place in found if reached.get(place, 0) < until[place]}
        behind[name] = await heads(brokers, left)
    return Progress(until, behind)


def _places(prefix: str, consumer: str, until: Mapping[Partition, int]) -> list[Partition]:
    mine = {prefix + topic for topic in catalogue().consumed_by(consumer)}
    return [place for place in until if place[0] in mine]
