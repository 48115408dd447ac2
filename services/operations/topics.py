"""Topics as an operator sees them: how far each group has come, and what was said lately."""

from __future__ import annotations

import heapq
from collections.abc import AsyncIterator
from dataclasses import dataclass

from schemas.topics import catalogue
from services.core.app import App
from services.core.bus.codec import header
from services.core.bus.delivery import Delivery, Partition
from services.core.bus.sealing import opened
from services.core.bus.topics_admin import ends
from services.core.errors import Permanent
from services.core.keys import Erased, Keys, NotAuthentic
from services.operations.dead_letters.dead_letter import ERASED
from services.operations.log import follow, read
from services.operations.progress import Progress, read_progress


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


async def readings(app: App, progress: Progress | None = None) -> list[Reading]:
    """How far every group has come in each of its topics, in the order of `topics.yaml`."""
    read = progress or await read_progress(app)
    prefix, found = app.settings.kafka.topic_prefix, []
    for topic in catalogue().topics.values():
        end = sum(count for (name, _), count in read.ends.items() if name == prefix + topic.name)
        groups = [_reading(prefix, topic.name, group, end, read) for group in topic.consumers]
        found += groups or [Reading(topic.name, "", end, 0, None)]
    return found


async def newest(app: App, topic: str, wanted: Filter, limit: int) -> list[Delivery]:
    """The newest `limit` records that are meant, oldest first. With a filter the whole topic is read."""
    brokers, stops = app.settings.kafka, await _ends_of(app, topic)
    starts = {} if wanted != Filter() else {place: max(0, end - limit) for place, end in stops.items()}
    kept: list[tuple[tuple[int, int, int], Delivery]] = []
    async for record in read(brokers, starts, stops):
        if wanted.takes(record):
            heapq.heappush(kept, ((record.timestamp_ms, record.offset, record.partition), record))
            if len(kept) > limit:
                heapq.heappop(kept)
    return [record for _, record in sorted(kept, key=lambda one: one[0])]


async def coming(app: App, topic: str, wanted: Filter) -> AsyncIterator[Delivery]:
    """The records that are meant, as they come from now on."""
    async for record in follow(app.settings.kafka, await _ends_of(app, topic)):
        if wanted.takes(record):
            yield record


async def _ends_of(app: App, topic: str) -> dict[Partition, int]:
    return await ends(app.settings.kafka, [app.settings.kafka.topic_prefix + topic])


def _reading(prefix: str, topic: str, group: str, end: int, read: Progress) -> Reading:
    mine = {place: record for place, record in read.behind[group].items() if place[0] == prefix + topic}
    lag = sum(read.ends[place] - record.offset for place, record in mine.items())
    return Reading(topic, group, end, lag, min((record.timestamp_ms for record in mine.values()), default=None))


def _text(value: bytes | None) -> str:
    return (value or b"").decode("utf-8", "replace")
