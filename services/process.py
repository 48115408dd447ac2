"""One process of a deployment: some processors, some edges, or all of them, until it is told to stop."""

from __future__ import annotations

import asyncio
import gc
import signal
from collections.abc import AsyncIterator, Callable, Collection, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import timedelta

import structlog

from schemas.topics import catalogue
from services.core.bus.bell import CHANNEL as BELL
from services.core.bus.dead_letters import dead_letter_topic
from services.core.bus.faust_source import FaustSource
from services.core.bus.group import make_source
from services.core.bus.log_generations import CHANNEL as LOG
from services.core.bus.log_generations import LogGenerations
from services.core.bus.log_recovery import LogKeeper
from services.core.bus.topics_admin import TopicSpec, ensure_topics
from services.core.db.migrate import migrate
from services.core.db.notices import listen
from services.core.errors import Permanent
from services.core.house import House
from services.core.probes import Probes, run_probes
from services.core.settings import Settings
from services.core.settings.retention import DEAD_LETTERS
from services.core.web import run_edges
from services.pipeline import EDGES, NAMES, PROCESSORS, consumers
from services.tools.health import watch as health
from services.tools.health.missed import MissedEvents
from services.tools.mailboxes.keep import settle_mailboxes
from services.tools.retention import daily as retention
from services.tools.vectors import keep as vectors

log = structlog.get_logger(__name__)

Report = Callable[[str], None]  # gets one line for each thing that a start waits for

STILL_WAITING_S = 5.0  # how often a start says what it still waits for


def _log(line: str) -> None:
    log.info(line)  # looked up when it is called: before logs are configured, structlog would print to the terminal


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
    return specs + [TopicSpec(name, 1, DEAD_LETTERS // timedelta(milliseconds=1)) for name in letters]


async def prepare(settings: Settings, report: Report = _log) -> None:
    """Bring database and topics up to date. Safe at every start, and by several processes at once."""
    report("waiting for the database, which is migrated where it must be")
    await asyncio.to_thread(migrate, settings.database_url)
    report(f"waiting for the broker at {settings.kafka.brokers}, where missing topics are created")
    await ensure_topics(settings.kafka, topic_specs(settings), replication=settings.kafka.replication)


@asynccontextmanager
async def working(house: House, names: Collection[str], report: Report = _log) -> AsyncIterator[None]:
    """The named processors and edges run for the block; they stop cleanly at its end.

    What the broker lost (an embedded one begins empty) is published again before an edge opens. The process that keeps
    time sees to that, now and whenever the broker loses its log; it sees to retention, to the vectors of memory and to
    alerts of what stands still, too.
    """
    keeper, stop = LogKeeper(house, topic_specs(house.settings), consumers()), asyncio.Event()
    generations = LogGenerations(house)
    if "keep_time" in names:
        report("waiting for stored events that the broker does not have")
        await keeper.look()
        await settle_mailboxes(house)
    await generations.read()
    async with _first_error(), asyncio.TaskGroup() as group, AsyncExitStack() as stack:
        stack.push_async_callback(keeper.close)
        processors = [one for one in PROCESSORS if one.name in names]
        sources = {one.name: make_source(one, house, generations.current) for one in processors}
        if house.settings.monitoring.enabled:
            probes = Probes(house, sources, any(one.asks_model for one in processors))
            group.create_task(run_probes(probes, house.settings.monitoring, stop), name="probes")
        for source in sources.values():
            stack.push_async_callback(source.stop)
            await source.start()
        await _all_assigned(sources, report)
        stack.callback(stop.set)
        start_beside(group, house, names, stop)
        if "keep_time" in names:
            group.create_task(health.keep(house, stop), name="health")
            group.create_task(keeper.keep(stop), name="log")
            group.create_task(MissedEvents(house).keep(stop), name="missed events")
        group.create_task(generations.keep(list(sources.values()), stop), name="generations of the log")
        heard = {BELL: house.bell.heard} if house.settings.kafka.embedded else {LOG: generations.heard}
        group.create_task(listen(house.settings.database_url, heard, stop), name="announcements of other processes")
        log.info("running", processors=sorted(names))
        yield


def start_beside(group: asyncio.TaskGroup, house: House, names: Collection[str], stop: asyncio.Event) -> None:
    """Start what runs beside the processors and needs no broker: the named edges, and each day's upkeep."""
    group.create_task(run_edges(house, [one for one in EDGES if one.name in names], stop), name="edges")
    if "keep_time" in names:
        group.create_task(retention.keep(house, stop), name="retention")
        group.create_task(vectors.keep(house, stop), name="vectors")


async def _all_assigned(sources: Mapping[str, FaustSource], report: Report) -> None:
    """Return when each consumer group has its partitions; say now and then which have not."""
    waiting = {asyncio.ensure_future(source.ready): name for name, source in sources.items()}
    while waiting:
        report(f"waiting for the partitions of {len(waiting)} consumer groups: {', '.join(waiting.values())}")
        done, _ = await asyncio.wait(waiting, timeout=STILL_WAITING_S, return_when=asyncio.ALL_COMPLETED)
        for future in done:
            future.result()
            del waiting[future]


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
