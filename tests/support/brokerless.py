"""A whole deployment in this process with a log in memory: every processor and edge, real Postgres, SMTP and IMAP.

`running_brokerless` is to `running_app` what `working_brokerless` is to `working`: use it wherever the broker is not
the subject. What another process publishes (a command that is started as one) is not seen here. The door for mail by
webhook is open, the API and the console are not.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Collection
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from typing import Any

from services.core.app import App, open_app
from services.core.bus.group import make_source
from services.core.bus.processor import Processor
from services.core.settings import Settings
from services.keep_time.keeper import KEEP_TIME
from services.operations.mailboxes import give_mailbox_keys
from services.pipeline import NAMES, PROCESSORS, WEB
from services.process import start_beside
from tests.support.memory_log import MemoryLog, MemoryPublisher

# The API and the console are most of what a start costs; whoever asks them says `NAMES`.
WITHOUT_WEB = tuple(name for name in NAMES if name != WEB)


@asynccontextmanager
async def opened_brokerless(settings: Settings, **parts: Any) -> AsyncIterator[App]:
    """A deployment that publishes to the log in memory of its topics' prefix; nobody is at work in it."""
    log = MemoryLog.of(settings.kafka.topic_prefix)
    async with open_app(settings, publishes=False, **parts) as app:
        yield replace(app, publisher=MemoryPublisher(log))


@asynccontextmanager
async def working_brokerless(app: App, names: Collection[str]) -> AsyncIterator[None]:
    """The named processors and edges at work for the block; they stop cleanly at its end."""
    log, stop = MemoryLog.of(app.settings.kafka.topic_prefix), asyncio.Event()
    if KEEP_TIME in names:
        await give_mailbox_keys(app)
    try:
        async with asyncio.TaskGroup() as group, AsyncExitStack() as stack:
            for processor in PROCESSORS:
                if processor.name in names:
                    await stack.enter_async_context(_consuming(log, processor, app))
            stack.callback(stop.set)
            start_beside(group, app, names, stop)
            yield
    except BaseExceptionGroup as several:
        raise several.exceptions[0] from None


@asynccontextmanager
async def running_brokerless(
    settings: Settings, names: tuple[str, ...] = WITHOUT_WEB, **parts: Any
) -> AsyncIterator[App]:
    """A deployment on a migrated database with the named processors at work in this process."""
    async with opened_brokerless(settings, **parts) as app, working_brokerless(app, names):
        yield app


@asynccontextmanager
async def _consuming(log: MemoryLog, processor: Processor, app: App) -> AsyncIterator[None]:
    """The lanes and the runner that a process gives this processor, on the log in memory."""
    source = make_source(processor, app)
    topics = source._settings.topics
    task = asyncio.create_task(log.consume(source._settings.group, topics, source._lanes), name=processor.name)
    mine = app.bell.listen(topics, lambda: None)  # nobody else need be told that there are records
    try:
        yield
    finally:
        mine()
        task.cancel()
        await asyncio.wait([task])
