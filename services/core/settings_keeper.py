"""Takes on, in a running process, the settings that people changed.

Invariants
- A process begins with the changes that are stored, before it handles anything (`open_app`).
- It takes a change on when Postgres announces it, and looks every `LOOK_S` seconds, since nothing says that an
  announcement was lost. While the database is away, what it knew stays in force.
- What handles one event keeps the settings that it began with (`App.as_it_is`).
"""

from __future__ import annotations

import asyncio

import structlog
from psycopg.errors import OperationalError
from psycopg_pool import PoolTimeout

from services.core.app import App
from services.core.clock import either
from services.core.stored_settings import newest_version, read_stored

log = structlog.get_logger(__name__)
CHANNEL = "settings_changed"
LOOK_S = 5.0


async def keep(app: App, stop: asyncio.Event, woken: asyncio.Event) -> None:
    """Take every change on until `stop` is set: when `woken` says that there is one, and every `LOOK_S` seconds."""
    while not stop.is_set():
        await either(stop, woken, LOOK_S)
        woken.clear()
        try:
            await look(app)
        except (OperationalError, PoolTimeout) as error:
            log.debug("stored settings could not be looked at", error=repr(error))


async def look(app: App) -> None:
    """Take on what is stored, where that is not what the App goes by."""
    workspace = app.settings.workspace
    if await newest_version(app.database, workspace) == app.in_force.stored.version:
        return
    app.take_stored(await read_stored(app.database, workspace))
    said = app.in_force
    log.info("settings were changed", version=said.stored.version)
    for name, reason in said.ignored.items():
        log.warning("a stored setting does not count", name=name, reason=reason)
