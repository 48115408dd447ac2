"""The ledger of replies and the suppressed addresses, as the tables have them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from services.core.db import Connection, fetch_all, queries
from services.core.paging import Listing, Page

SQL = queries(__file__)
LEDGER = Listing("deliveries", (("changed_at", "time"), ("reply_id", "id")), descending=True)
SUPPRESSED = Listing("suppressions", (("at", "time"), ("addr", "text")), descending=True)


@dataclass(frozen=True, slots=True)
class DeliveryLine:
    """A reply in the ledger: `retry_at` where a server has put it off, `sent_copy` what became of the copy in Sent."""

    reply_id: UUID
    thread_id: UUID
    changed_at: datetime
    state: str
    recipient: str | None
    attempt: int
    detail: str
    message_id: str | None
    retry_at: datetime | None
    sent_copy: str | None
    copy_detail: str | None


async def ledger(conn: Connection, workspace: str, state: str, *, limit: int, after: str = "") -> Page[DeliveryLine]:
    """The newest replies, those in a state or ("") all. Raises `BadCursor`."""
    args = {"workspace": workspace, "state": state} | LEDGER.args(after, limit)
    return LEDGER.page([DeliveryLine(**row) for row in await fetch_all(conn, SQL.ledger, args)], limit)


async def suppressed(conn: Connection, workspace: str, *, limit: int, after: str = "") -> Page[dict[str, Any]]:
    """The addresses that get no mail of ours, newest first. Raises `BadCursor`."""
    args = {"workspace": workspace} | SUPPRESSED.args(after, limit)
    return SUPPRESSED.page(await fetch_all(conn, SQL.suppressed, args), limit)
