"""Topics as an operator sees them: how far each group has come, and what was said lately."""

from __future__ import annotations

import heapq
from collections.abc import AsyncIterator
from dataclasses import dataclass

from schemas.topics import catalogue
from services.core.bus.codec import header
from services.core.bus.delivery import Delivery, Partition
from services.core.bus.sealing import opened
from services.core.bus.topics_admin import committed, ends
from services.core.errors import Permanent
from services.core.house import House
from services.core.keys import Erased, Keys, NotAuthentic
from services.tools.letter import ERASED
from services.tools.log import follow, heads, read


class NoSuchTopic(Permanent):
    """There is no topic with this name."""


@dataclass(frozen=True, slots=True)
class Reading:
    """How far `group` has come in `topic`: records there, records to do, the oldest of them (Unix ms). No group: ""."""

    topic: str
    group: str
    end: int
    lag: int
    oldest_ms: int | None


@dataclass(frozen=True, slots=True)
class Filter:
    """Which records are meant; each criterion that is set must hold. `type` may leave the version out."""

    thread: str = ""
    type: str = ""

    def takes(self, record: Delivery) -> bool:
        """Whether the record is meant; looks at key and headers only."""
        kind = header(record, "ce_type")
        return self.thread in ("", _text(record.key)) and (self.type in ("", kind) or kind.startswith(self.type + ".v"))


async def value_of(record: Delivery, keys: Keys) -> str:
    """The value as text, opened where it is sealed; `«erased»` where it no longer can be."""
    try:
        clear, _ = await opened(keys, record)
    except Erased:
        return ERASED
    except (NotAuthentic, ValueError) as error:
        return f"(cannot be opened: {error})"
    return "(none)" if record.value is None else (clear.value or b"").decode("utf-8", "backslashreplace")


def known_topic(name: str) -> str:
    """The name, if `topics.yaml` has it. Raises `NoSuchTopic`, which lists those it has."""
    if name not in catalogue().topics:
        raise NoSuchTopic(f"there is no topic {name!r}; there are: {', '.join(catalogue().topics)}")
    return name


async def readings(house: House) -> list[Reading]:
    """How far every group has come in each of its topics, in the order of `topics.yaml`."""
    prefix, brokers = house.settings.kafka.topic_prefix, house.settings.kafka.brokers
    topics = catalogue().topics
    until = await ends(brokers, [prefix + name for name in topics])
    reached = {
        name: await _behind(brokers, prefix + name, {place: until[place] for place in until if place[0] in mine})
        for name in sorted({one for topic in topics.values() for one in topic.consumers})
        if (mine := {prefix + topic for topic in catalogue().consumed_by(name)})
    }
    found = []
    for topic in topics.values():
        end = sum(count for (name, _), count in until.items() if name == prefix + topic.name)
        groups = [_reading(prefix, topic.name, group, end, *reached[group]) for group in topic.consumers]
        found += groups or [Reading(topic.name, "", end, 0, None)]
    return found


async def newest(house: House, topic: str, wanted: Filter, limit: int) -> list[Delivery]:
    """The newest `limit` records that are meant, oldest first. With a filter the whole topic is read."""
    brokers, stops = house.settings.kafka.brokers, await _ends_of(house, topic)
    starts = {} if wanted != Filter() else {place: max(0, end - limit) for place, end in stops.items()}
    kept: list[tuple[tuple[int, int, int], Delivery]] = []
    async for record in read(brokers, starts, stops):
        if wanted.takes(record):
            heapq.heappush(kept, ((record.timestamp_ms, record.offset, record.partition), record))
            if len(kept) > limit:
                heapq.heappop(kept)
    return [record for _, record in sorted(kept, key=lambda one: one[0])]


async def coming(house: House, topic: str, wanted: Filter) -> AsyncIterator[Delivery]:
    """The records that are meant, as they come from now on."""
    async for record in follow(house.settings.kafka.brokers, await _ends_of(house, topic)):
        if wanted.takes(record):
            yield record


async def _ends_of(house: House, topic: str) -> dict[Partition, int]:
    return await ends(house.settings.kafka.brokers, [house.settings.kafka.topic_prefix + topic])


async def _behind(
    brokers: str, group: str, until: dict[Partition, int]
) -> tuple[dict[Partition, int], dict[Partition, Delivery]]:
    """The ends of a group's partitions, and the first record that it has not done of each."""
    done = await committed(brokers, group, list(until)) if until else {}
    left = {place: done.get(place, 0) for place, end in until.items() if done.get(place, 0) < end}
    return until, await heads(brokers, left)


def _reading(
    prefix: str, topic: str, group: str, end: int, until: dict[Partition, int], behind: dict[Partition, Delivery]
) -> Reading:
    mine = {place: record for place, record in behind.items() if place[0] == prefix + topic}
    lag = sum(until[place] - record.offset for place, record in mine.items())
    return Reading(topic, group, end, lag, min((record.timestamp_ms for record in mine.values()), default=None))


def _text(value: bytes | None) -> str:
    return (value or b"").decode("utf-8", "replace")
