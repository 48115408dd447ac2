"""Events found by an id: their own, of what they followed from, or of what they are about; a person by address.

What an event says is not among it: the pages of threads and people show that to whom it may be shown.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from services.core.app import App
from services.core.db import queries, rows_as
from services.core.ids import participant_ids
from services.core.mailbox import MailboxKey
from services.core.paging import Listing, Page

SQL = queries(__file__, "events.sql")
EVENTS = Listing("events", (("seq", "number"),), descending=True)


@dataclass(frozen=True, slots=True)
class EventLine:
    """An event without its content. `published_at` is None while it waits in the outbox."""

    seq: int
    id: UUID
    type: str
    source: str
    topic: str
    key: str
    time: datetime
    stored_at: datetime
    correlation_id: UUID
    causation_id: UUID | None
    published_at: datetime | None


async def find_events(app: App, typed: str, *, limit: int, after: str = "") -> Page[EventLine]:
    """The events of an id (event, correlation, thread, person) or of an address, newest first.

    What is neither an id nor an address finds nothing. Raises `BadCursor`.
    """
    workspace = app.settings.workspace
    if "@" in typed:
        ids = participant_ids(workspace, MailboxKey(typed.strip()), app.settings.spaces)
    else:
        ids = [one] if (one := _id(typed)) else []
    if not ids:
        return Page()
    async with app.database.reading() as conn:
        args = {"workspace": workspace, "ids": ids} | EVENTS.args(after, limit)
        return EVENTS.page(await rows_as(conn, EventLine, SQL.found, args), limit)


def _id(typed: str) -> UUID | None:
    try:
        return UUID(typed.strip())
    except ValueError:
        return None
