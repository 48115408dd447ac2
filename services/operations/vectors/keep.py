"""The deployment's own care for its vectors, in the process that keeps time.

At its start, and each minute, it looks whether facts or passages lack a vector of the embedder in use: because that has
changed, because it was away when they came, or because tables were rebuilt. One process at a time gives them
theirs; when that dies, another, or the same after its start, goes on.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any
from uuid import NAMESPACE_OID, uuid5

import structlog

from services.core.app import App
from services.core.clock import pause
from services.core.db import Connection
from services.core.db.locks import HeldElsewhere
from services.core.errors import Temporary
from services.operations.history_lock import holding
from services.operations.rebuild.shadow_schema import connected
from services.operations.vectors.index import drop_idle, index_is_due, make_index
from services.operations.vectors.renewal import Lacking, count_lacking, renew

LOOK_EVERY_S = 60.0
AGAIN_S = 3600.0  # after texts that the embedder refused
SAY_EVERY = 2_000  # rows

Told = Callable[[int, int], None]  # how many have their vector, of how many

log = structlog.get_logger(__name__)


async def keep(app: App, stop: asyncio.Event) -> None:
    """Look again and again, until `stop` is set, which waits for nothing; what goes wrong is said, and tried again."""
    while not stop.is_set():
        rest_s = LOOK_EVERY_S
        try:
            if await _unless_stopped(look(app, _saying()), stop):
                rest_s = AGAIN_S
        except HeldElsewhere:
            log.debug("another process sees to the vectors")
        except Temporary as error:
            log.info("vectors wait", reason=str(error) or type(error).__name__)
        except Exception as error:
            log.warning("vectors could not be seen to, will try again", error=repr(error))
        await pause(stop, rest_s)


async def _unless_stopped(looking: Coroutine[Any, Any, int], stop: asyncio.Event) -> int:
    """What a look gives. It is cancelled, and gives 0, when the deployment stops: what is done stays done."""
    looked, stopped = asyncio.ensure_future(looking), asyncio.ensure_future(stop.wait())
    try:
        await asyncio.wait((looked, stopped), return_when=asyncio.FIRST_COMPLETED)
        return await looked if looked.done() else 0
    finally:
        for one in (looked, stopped):
            one.cancel()
        await asyncio.gather(looked, stopped, return_exceptions=True)


async def look(app: App, told: Told) -> int:
    """Give what lacks a vector its own and make the index that is due; how many texts the embedder refused.

    Raises `HeldElsewhere` where another process is at it, `HistoryHeld`, and what the embedder and `told` raise.
    """
    async with app.database.transaction() as conn:
        lacking = await count_lacking(conn, app.embedder.name, app.settings.workspace)
        if not lacking.total and not await index_is_due(conn, app.embedder):
            return 0
    wanted = app.locks.hold(uuid5(NAMESPACE_OID, f"vectors/{app.settings.workspace}"))
    async with connected(app.settings.database_url) as conn, wanted:
        refused = await _renew(app, conn, lacking, told) if lacking.total else 0
        if await index_is_due(conn, app.embedder):
            async with holding(app.settings.database_url):  # a rebuild needs the tables for a moment at its end
                await make_index(conn, app.embedder)
            await drop_idle(conn, app.embedder)
        return refused


async def _renew(app: App, conn: Connection, lacking: Lacking, told: Told) -> int:
    _say(app, lacking)
    done = refused = 0
    async for batch in renew(conn, app.embedder, app.settings.workspace):
        done, refused = done + batch.given, refused + batch.refused
        told(done, lacking.total)
    log.info("vectors were given", model=app.embedder.name, rows=done, refused=refused)
    await drop_idle(conn, app.embedder)
    return refused


def _saying() -> Told:
    """Says now and then how far it is."""
    said = 0

    def told(done: int, of: int) -> None:
        nonlocal said
        if done - said >= SAY_EVERY:
            said = done
            log.info("giving vectors", done=done, of=of)

    return told


def _say(app: App, lacking: Lacking) -> None:
    if lacking.others:
        log.warning(
            "the embedder has changed: everything is re-embedded, and until then these are found by their words alone",
            model=app.embedder.name,
            facts=lacking.facts_of_others,
            passages=lacking.passages_of_others,
            said=lacking.said_of_others,
        )
    else:
        log.info("giving vectors to what has none", model=app.embedder.name, rows=lacking.total)
