"""One process of the house: some processors, some edges, or all of them, until it is told to stop."""

from __future__ import annotations

import asyncio
import gc
import signal
from collections.abc import AsyncIterator, Collection
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import timedelta

import structlog

from schemas.topics import catalogue
from services.core.bus.dead_letters import RETENTION, dead_letter_topic
from services.core.bus.group import make_source
from services.core.bus.told import keep_told, tell
from services.core.bus.topics_admin import TopicSpec, ensure_topics
from services.core.db.migrate import migrate
from services.core.errors import Permanent
from services.core.house import House
from services.core.settings import Settings
from services.core.web import run_edges
from services.pipeline import EDGES, NAMES, PROCESSORS, consumers
from services.tools.retention import daily as retention
from services.tools.vectors import keep as vectors

log = structlog.get_logger(__name__)


class NoSuchProcessor(Permanent):
    """There is no processor with this name."""


def check_names(names: Collection[str]) -> frozenset[str]:
    """The processors meant by `names` (`all` means all). Raises `NoSuchProcessor`, which lists them."""
    if "all" in names:
        return frozenset(NAMES)
    for name in names:
        if name not in NAMES:
            raise NoSuchProcessor(f"there is no processor {name!r}; there are: all, {', '.join(NAMES)}")
    return frozenset(names)


def topic_specs(settings: Settings) -> list[TopicSpec]:
    """Every topic of topics.yaml, and each consumer's dead letters."""
    prefix = settings.kafka.topic_prefix
    specs = [
        TopicSpec(prefix + one.name, one.partitions, timedelta(days=one.retention_days) // timedelta(milliseconds=1))
        for one in catalogue().topics.values()
    ]
    letters = [dead_letter_topic(prefix + topic, prefix + consumer) for topic, consumer in consumers()]
    return specs + [TopicSpec(name, 1, RETENTION // timedelta(milliseconds=1)) for name in letters]


async def prepare(settings: Settings) -> None:
    """Bring database and topics up to date. Safe at every start, and by several processes at once."""
    await asyncio.to_thread(migrate, settings.database_url)
    await ensure_topics(settings.kafka.brokers, topic_specs(settings), replication=settings.kafka.replication)


@asynccontextmanager
async def working(house: House, names: Collection[str]) -> AsyncIterator[None]:
    """The named processors and edges at work for the block; they stop cleanly at its end.

    An embedded broker begins empty: what is stored and not yet consumed goes into it before an edge opens. The
    process that keeps time sees to that, now and whenever the broker was started anew; it sees to retention and to the
    vectors of memory, too.
    """
    topics, stop = topic_specs(house.settings), asyncio.Event()
    tells = house.settings.kafka.embedded and "keep_time" in names
    if tells:
        await tell(house, topics, consumers())
    async with _first_error(), asyncio.TaskGroup() as group, AsyncExitStack() as stack:
        sources = [make_source(one, house) for one in PROCESSORS if one.name in names]
        for source in sources:
            stack.push_async_callback(source.stop)
            await source.start()
        await asyncio.gather(*(source.ready for source in sources))
        stack.callback(stop.set)
        group.create_task(run_edges(house, [one for one in EDGES if one.name in names], stop), name="edges")
        if "keep_time" in names:
            group.create_task(retention.keep(house, stop), name="retention")
            group.create_task(vectors.keep(house, stop), name="vectors")
        if tells:
            group.create_task(keep_told(house, topics, consumers(), stop), name="tell a broker that forgot")
        log.info("at work", processors=sorted(names))
        yield


async def until_signal() -> None:
    """Wait for SIGINT or SIGTERM.

    What start-up made stays for good, some 260,000 objects: the garbage collector need not stop everything for 0.15 s
    again and again to go through them.
    """
    gc.collect()
    gc.freeze()
    told = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, told.set)
    await told.wait()


@asynccontextmanager
async def _first_error() -> AsyncIterator[None]:
    """An edge that fails ends the block; what it failed with is raised as itself, not as a group."""
    try:
        yield
    except BaseExceptionGroup as group:
        raise group.exceptions[0] from None
