"""Mail servers that are away, as others see them: one row for each inbox and direction, for `status` and alerts.

Whoever meets the outage notes it, and whoever gets through first clears the row; neither can fail its caller.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

import psycopg
import structlog
from psycopg_pool import PoolTimeout

from services.core.app import App
from services.core.db import Connection, fetch_all, fetch_one
from services.core.outages import LONGEST_ERROR, SQL
from services.core.settings import Settings
from services.core.storable import storable

log = structlog.get_logger(__name__)

Direction = Literal["imap", "smtp"]


@dataclass(frozen=True, slots=True)
class MailOutage:
    """The server by which mail of an inbox comes (imap) or goes (smtp) is away."""

    direction: Direction
    inbox: str
    since: datetime
    error: str

    @property
    def words(self) -> str:
        """What is wrong since when, what becomes of the mail, and what to do."""
        what = "mail is not fetched from its IMAP server" if self.direction == "imap" else "replies cannot be sent"
        kept = "mail waits there" if self.direction == "imap" else "they are kept and tried again"
        remedy = f"`correspondent inbox test {self.inbox}` says what to change"
        return f"inbox {self.inbox}: {what} since {self.since:%Y-%m-%d %H:%M} UTC, {kept}; {remedy}: {self.error}"


async def note(app: App, direction: Direction, inbox: str, error: str, again_s: float = 0.0) -> bool:
    """Have the row say that the server is away; whether that is new, so that it is logged once."""
    now = app.now()
    args = {"error": storable(error[:LONGEST_ERROR]), "now": now, "next_probe": now + timedelta(seconds=again_s)}
    try:
        async with app.database.reading() as conn:
            row = await fetch_one(conn, SQL.note, {**_key(app, direction, inbox), **args})
    except (psycopg.Error, PoolTimeout) as failed:
        log.warning("that a mail server is away could not be noted", error=repr(failed))
        return True
    return bool(row and row["new"])


async def clear(app: App, direction: Direction, inbox: str) -> None:
    """The server answers."""
    try:
        async with app.database.reading() as conn:
            await conn.execute(SQL.clear, _key(app, direction, inbox))
    except (psycopg.Error, PoolTimeout) as failed:
        log.warning("that a mail server answers could not be noted", error=repr(failed))


async def mail_outages(app: App) -> tuple[MailOutage, ...]:
    """What is noted of the inboxes that the settings have, those whose mail is not fetched left out."""
    async with app.database.reading() as conn:
        return await noted_outages(conn, app.settings)


async def noted_outages(conn: Connection, settings: Settings) -> tuple[MailOutage, ...]:
    """The same, on a connection that is held."""
    rows = await fetch_all(conn, SQL.found, {"workspace": settings.workspace})
    inboxes = settings.inboxes
    used: dict[str, tuple[Direction, str]] = {f"smtp {one.name}": ("smtp", one.name) for one in inboxes}
    used |= {f"imap {one.name}": ("imap", one.name) for one in inboxes if one.imap and not one.paused}
    found = [row for row in rows if row["service"] in used]
    return tuple(MailOutage(*used[row["service"]], row["since"], row["error"]) for row in found)


def _key(app: App, direction: Direction, inbox: str) -> dict[str, str]:
    return {"workspace": app.settings.workspace, "service": f"{direction} {inbox}"}
