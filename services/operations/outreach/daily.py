"""The day's round of outreach, in the process that keeps time: each inbox is asked about once a day.

It is asked for in the inbox's office hours, for the day that it is. The id is made of the inbox and its day, so that
any number of processes and restarts ask once. A day on which nobody was there is not asked for later.
"""

from __future__ import annotations

import asyncio
from uuid import UUID, uuid5

import structlog

from schemas.events.outreach import OutreachDue
from services.core.app import App
from services.core.bus import event_store
from services.core.bus.envelope import first
from services.core.bus.runner import enter
from services.core.clock import pause
from services.core.db import fetch_one
from services.core.ids import outreach_book_id
from services.core.office_hours import is_open
from services.core.settings import OfficeHours
from services.keep_time.keeper import KEEP_TIME

log = structlog.get_logger(__name__)

LOOK_EVERY_S = 600.0


async def keep(app: App, stop: asyncio.Event) -> None:
    """Ask each day, until `stop` is set; returns at once where there is no rule."""
    while app.settings.reach_out.rules and not stop.is_set():
        try:
            await ask(app)
        except Exception as error:
            log.warning("outreach could not be asked for, will try again", error=repr(error))
        await pause(stop, LOOK_EVERY_S)


async def ask(app: App) -> int:
    """Ask for the round of each inbox that is open and was not asked about today; of how many."""
    asked = 0
    for inbox in app.settings.inboxes if app.settings.reach_out.rules else ():
        hours, now = app.settings.hours_of(inbox.name), app.now()
        id = _id(app, inbox.name, hours)
        if not is_open(now, hours) or await _is_stored(app, id):
            continue
        due = OutreachDue(book_id=outreach_book_id(app.settings.workspace), inbox=inbox.name, due_at=now)
        await enter(app, first(due, id=id, source=KEEP_TIME, time=now, workspace=app.settings.workspace))
        asked += 1
    return asked


def _id(app: App, inbox: str, hours: OfficeHours) -> UUID:
    day = app.now().astimezone(hours.zone).date()
    return uuid5(outreach_book_id(app.settings.workspace), f"round/{inbox}/{day:%Y-%m-%d}")


async def _is_stored(app: App, id: UUID) -> bool:
    async with app.database.reading() as conn:
        return await fetch_one(conn, event_store.SQL.by_id, {"id": id}) is not None
