"""One process of a deployment: some processors, some edges, or all of them, until it is stopped."""

from __future__ import annotations

import asyncio
import gc
import signal
from collections.abc import AsyncIterator, Collection, Iterable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from importlib import import_module

import structlog

from services.core import settings_keeper
from services.core.app import App
from services.core.bus.bell import CHANNEL as BELL
from services.core.bus.faust_source import FaustSource
from services.core.bus.group import make_source
from services.core.bus.log_generations import CHANNEL as LOG
from services.core.bus.log_generations import LogGenerations
from services.core.bus.processor import Edge
from services.core.db.notices import listen
from services.core.errors import Permanent
from services.core.probes import Probes, run_probes
from services.core.web import run_edges
from services.keep_time.keeper import KEEP_TIME
from services.operations.mailboxes import give_mailbox_keys
from services.operations.preparation import Report, log_line
from services.pipeline import EDGES, NAMES, PROCESSORS
from services.upkeep import UPKEEP, Round, log_keeper

log = structlog.get_logger(__name__)

STILL_WAITING_S = 5.0  # how often a start says what it still waits for
LOOKED_THROUGH_AFTER = 20_000  # objects more than were freed


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


@asynccontextmanager
async def working(app: App, names: Collection[str], report: Report = log_line) -> AsyncIterator[None]:
    """The named processors and edges run for the block; they stop cleanly at its end.

    What the broker lost (an embedded one begins empty) is published again before an edge opens. The process that keeps
    time sees to that, and to the other rounds of the upkeep (`services/upkeep.py`).
    """
    generations, stop = LogGenerations(app), asyncio.Event()
    if KEEP_TIME in names:
        report("waiting for stored events that the broker does not have")
        async with log_keeper(app) as keeper:  # its round below has one of its own, open as long as the process
            await keeper.look()
        await give_mailbox_keys(app)
    await generations.read()
    async with _first_error(), asyncio.TaskGroup() as group, AsyncExitStack() as stack:
        processors = [one for one in PROCESSORS if one.name in names]
        sources = {one.name: make_source(one, app, generations.current) for one in processors}
        if app.settings.monitoring.enabled:
            probes = Probes(app, sources, any(one.asks_model for one in processors))
            group.create_task(run_probes(probes, app.settings.monitoring, stop), name="probes")
        for source in sources.values():
            stack.push_async_callback(source.stop)  # before the start: one that fails half-way is stopped, too
            await source.start()
        await _all_assigned(sources, report)
        stack.callback(stop.set)  # the stack unwinds from here: edges let nothing in while the sources end their work
        start_beside(group, app, names, stop)
        if KEEP_TIME in names:
            start_rounds(group, app, [one for one in UPKEEP if one.broker], stop)
        group.create_task(generations.keep(list(sources.values()), stop), name="generations of the log")
        changed = asyncio.Event()
        heard = {BELL: app.bell.heard} if app.settings.kafka.embedded else {LOG: generations.heard}
        heard |= {settings_keeper.CHANNEL: lambda _: changed.set()}
        group.create_task(settings_keeper.keep(app, stop, changed), name="stored settings")
        group.create_task(listen(app.settings.database_url, heard, stop), name="announcements of other processes")
        log.info("running", processors=sorted(names))
        yield


def start_beside(group: asyncio.TaskGroup, app: App, names: Collection[str], stop: asyncio.Event) -> None:
    """Start what runs next to the processors and needs no broker: the named edges, and such rounds of the upkeep."""
    group.create_task(run_edges(app, [_edge(one) for one in EDGES if one in names], stop), name="edges")
    if KEEP_TIME in names:
        start_rounds(group, app, [one for one in UPKEEP if not one.broker], stop)


def start_rounds(group: asyncio.TaskGroup, app: App, rounds: Iterable[Round], stop: asyncio.Event) -> None:
    """Start these rounds of the upkeep, each as a task of its name."""
    for one in rounds:
        group.create_task(one.keep(app, stop), name=one.name)


def _edge(name: str) -> Edge:
    """The edge in the folder of this name."""
    found: Edge = import_module(f"services.{name}").EDGE
    return found


async def _all_assigned(sources: Mapping[str, FaustSource], report: Report) -> None:
    """Return when each consumer group has its partitions; say now and then which have not."""
    waiting = {asyncio.ensure_future(source.ready): name for name, source in sources.items()}
    while waiting:
        report(f"waiting for the partitions of {len(waiting)} consumer groups: {', '.join(waiting.values())}")
        done, _ = await asyncio.wait(waiting, timeout=STILL_WAITING_S, return_when=asyncio.ALL_COMPLETED)
        for future in done:
            future.result()
            del waiting[future]


def spare_the_collector() -> None:
    """What start-up made stays for good, some 260,000 objects: the garbage collector goes through them no more.

    What a mail makes is nearly all freed without it, and it looks for the rest after so many objects, not after 700.
    """
    gc.collect()  # what is frozen is never freed, so that garbage has to go first
    gc.freeze()
    gc.set_threshold(LOOKED_THROUGH_AFTER, 10, 10)


async def until_signal() -> None:
    """Wait for SIGINT or SIGTERM."""
    spare_the_collector()
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
