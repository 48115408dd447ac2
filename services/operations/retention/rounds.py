"""One round: the deployment, the day that it is made for, and when to stop; and a step of it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, time, timedelta

from services.core.app import App
from services.core.db import Connection
from services.core.settings import Settings
from services.operations.history_lock import hold

BATCH = 500


@dataclass(frozen=True, slots=True)
class Clearing:
    """`day` is its beginning in UTC: a round that is made twice in a day decides alike."""

    app: App
    day: datetime
    stop: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def settings(self) -> Settings:
        """The settings in force."""
        return self.app.settings

    @property
    def workspace(self) -> str:
        """Whose rows are looked at."""
        return self.app.settings.workspace

    def before(self, days: float) -> datetime:
        """What is older than this is older than so many days."""
        return self.day - timedelta(days=days)

    @asynccontextmanager
    async def alone(self) -> AsyncIterator[Connection]:
        """A transaction during which nobody erases, archives or rebuilds. Raises `HistoryHeld`."""
        async with self.app.database.transaction() as conn:
            await hold(conn)
            yield conn


Work = Callable[[Clearing], Awaitable[int]]


@dataclass(frozen=True, slots=True)
class Step:
    """A kind of thing that goes: `setting` says after how many days, 0 never; `due` counts what would go, `go` acts.

    What `asks` (in words) is decided by the owner of a table, a moment later; `go` then counts what was asked about.
    """

    name: str
    setting: str
    days: Callable[[Settings], float]
    due: Work
    go: Work
    asks: str = ""


def today(now: datetime) -> datetime:
    """The beginning of a day, UTC."""
    return datetime.combine(now.astimezone(UTC).date(), time(), UTC)
