"""Mail that we begin, as people see it: the day's round, what came of it by rule, and who wants none.

Each inbox is asked about in its office hours, for the day that it is. The id is made of the inbox and its day, so that
any number of processes and restarts ask once. A day on which nobody was there is not asked for later.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID, uuid5

import structlog

from schemas.events.outreach import OutreachDue, UnsubscribeRequested
from services.core.app import App
from services.core.bus import event_store
from services.core.bus.envelope import first
from services.core.bus.runner import enter
from services.core.clock import pause
from services.core.db import Connection, fetch_all, fetch_one, queries
from services.core.errors import Permanent
from services.core.ids import outreach_book_id
from services.core.office_hours import is_open
from services.core.settings import OfficeHours
from services.keep_time.keeper import KEEP_TIME
from services.mail.unsubscribe import unsubscribed_by
from services.operations.requests import ask, decision_on

log = structlog.get_logger(__name__)

SQL = queries(__file__, "outreach.sql")
LOOK_EVERY_S = 600.0


async def keep(app: App, stop: asyncio.Event) -> None:
    """Ask each day, until `stop` is set; returns at once where there is no rule."""
    while app.settings.reach_out.rules and not stop.is_set():
        try:
            await ask_for_rounds(app)
        except Exception as error:
            log.warning("outreach could not be asked for, will try again", error=repr(error))
        await pause(stop, LOOK_EVERY_S)


async def ask_for_rounds(app: App) -> int:
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


# What came of mail that we began, by inbox and rule.


@dataclass(frozen=True, slots=True)
class RuleLine:
    """A rule in an inbox. `waiting` are drafts; `not_sent` were rejected, overtaken, refused or could not be sent.

    `answered` are those of the `sent` that their reader answered in time, `unsubscribed` whose token came back.
    """

    inbox: str
    rule: str
    proposed: int
    waiting: int
    not_sent: int
    sent: int
    answered: int
    unsubscribed: int
    bounced: int
    last_at: datetime


async def outreach_by_rule(conn: Connection, workspace: str, since: datetime | None = None) -> list[RuleLine]:
    """The rules with what came of them, since a moment where one is given; one row an inbox and rule."""
    rows = await fetch_all(conn, SQL.by_rule, {"workspace": workspace, "since": since})
    return [RuleLine(**row) for row in rows]


# Somebody gets no more mail that we begin: by the token of one, or because a person of ours says so; or again.
CONSUMER = "reach_out"


class TokenUnknown(Permanent):
    """The token is none of ours."""


async def by_token(app: App, token: str) -> None:
    """Put it on the log that whom this mail was to wants no more. Raises `TokenUnknown`."""
    outreach_id = unsubscribed_by(app.signing_keys, app.settings.workspace, token)
    if outreach_id is None:
        raise TokenUnknown("this link is not one of ours, or not whole")
    await ask(app, UnsubscribeRequested(book_id=_book(app), outreach_id=outreach_id, how="link"))


async def by_person(app: App, participant_id: UUID, *, lifted: bool, by: str, timeout_s: float) -> None:
    """Have somebody get no more such mail, or again. Raises `NotDecidedYet`."""
    asked = UnsubscribeRequested(book_id=_book(app), participant_id=participant_id, how="person", lifted=lifted, by=by)
    await decision_on(app, asked, CONSUMER, timeout_s=timeout_s)


def _book(app: App) -> UUID:
    return outreach_book_id(app.settings.workspace)
