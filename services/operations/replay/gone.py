"""What keeps a case from being replayed for good: retention has taken what it was made of."""

from __future__ import annotations

from collections.abc import Iterator
from uuid import UUID

from schemas.events.mail import MailReceived
from services.core.bus.event_store import EventRow
from services.core.db import Connection, fetch_one
from services.operations.replay.steps import SQL, Step
from services.operations.retention.expired_events import gone_since

SETTING = "retention.{}_days"


async def what_is_gone(conn: Connection, start: EventRow, steps: list[Step]) -> str:
    """In words, or empty where everything is there."""
    if start["type"] == MailReceived.TYPE:
        row = await fetch_one(conn, SQL.removed_blob, {"owner": UUID(start["data"]["mail_id"])})
        if row is not None:
            return f"the raw mail is kept no longer, since {row['removed_at']:%Y-%m-%d} ({SETTING.format('blobs')})"
    return next(_emptied([start, *(one for step in steps for one in step.recorded)]), "")


def _emptied(rows: list[EventRow]) -> Iterator[str]:
    for row in rows:
        for name, day in gone_since(row["data"]).items():
            what = "texts" if name == "bodies" else "facts"
            yield f"the {what} in {row['type']} {row['id']} are kept no longer, since {day} ({SETTING.format(name)})"
