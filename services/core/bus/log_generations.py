"""How often each topic was lost, as every process knows it: offsets of an earlier generation mean nothing.

A commit carries the topic's generation in its metadata, and a consumer trusts a committed offset of its own generation
only; else it reads the partition from its beginning, and the journal knows what was done. So it does not matter when a
process hears of a loss: what it commits until then is not believed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping

import structlog

from services.core.app import App
from services.core.bus.faust_source import FaustSource
from services.core.bus.log_recovery import SQL
from services.core.clock import either
from services.core.db import fetch_all

log = structlog.get_logger(__name__)

CHANNEL = "correspondent_log"  # a notification of Postgres says that a topic was lost
LOOK_EVERY_S = 60.0  # although nothing was announced
AGAIN_S = 3.0


class LogGenerations:
    """What this process has read last. The embedded broker loses groups and topics together: there all are 0."""

    def __init__(self, app: App) -> None:
        self._app = app
        self._of: Mapping[str, int] = {}
        self._announced = asyncio.Event()

    def heard(self, _: str) -> None:
        """What `db.notices.listen` calls for each announcement."""
        self._announced.set()

    def current(self) -> Mapping[str, int]:
        """By topic; one that is not there is of generation 0."""
        return self._of

    async def read(self) -> set[str]:
        """Read them; the topics that have another one than before."""
        if self._app.settings.kafka.embedded:
            return set()
        async with self._app.database.reading() as conn:
            rows = await fetch_all(conn, SQL.generations, {"prefix": self._app.settings.kafka.topic_prefix})
        before, self._of = self._of, {row["name"]: row["generation"] for row in rows}
        return {name for name, generation in self._of.items() if before.get(name, 0) != generation}

    async def keep(self, sources: Iterable[FaustSource], stop: asyncio.Event) -> None:
        """Until `stop` is set: where topics were lost, have `sources` read them again, with a new producer."""
        if self._app.settings.kafka.embedded:
            return
        unheard: set[str] = set()
        while not stop.is_set():
            self._announced.clear()
            wait_s = LOOK_EVERY_S
            try:
                unheard |= await self.read()
                if unheard:
                    log.warning("the log was lost, reading again what is on it now", topics=sorted(unheard))
                    await self._app.publisher.renew()
                    for source in sources:
                        source.read_again(unheard)
                    unheard = set()
            except Exception as error:
                log.warning("the generations of the log are not known, will try again", error=repr(error))
                wait_s = AGAIN_S
            await either(stop, self._announced, wait_s)
