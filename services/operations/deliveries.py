"""Replies on their way out, for people: the ledger, the word on an unclear one, and the addresses that get no mail."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from schemas.events.replies import DeliverySettled, SuppressionLiftRequested
from services.core.app import App
from services.core.db import Connection, fetch_all, fetch_one, queries
from services.core.errors import Permanent
from services.core.mailbox import MailboxKey
from services.core.paging import Listing, Page
from services.operations.ids import whole_id
from services.operations.requests import decision_on

SQL = queries(__file__, "deliveries.sql")
CONSUMER = "send_email"
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


# A person's word on a reply of which nobody knows whether it was sent: it is never sent again.


class NothingToSettle(Permanent):
    """Only what is unknown can be settled."""


async def settle(app: App, typed: str, *, sent: bool, reason: str, by: str, timeout_s: float) -> dict[str, Any]:
    """Give the word on the reply whose id begins so; its `state` and `detail` after it.

    Raises `IdUnclear`, `NothingToSettle` or `NotDecidedYet`.
    """
    reply_id = await whole_id(app, typed, "reply")
    row = await _row(app, reply_id)
    if row["state"] != "unknown":
        raise NothingToSettle(f"{reply_id} is {row['state']}; only what is unknown can be settled")
    word = DeliverySettled(reply_id=reply_id, thread_id=row["thread_id"], sent=sent, reason=reason, by=by)
    await decision_on(app, word, CONSUMER, timeout_s=timeout_s)
    return await _row(app, reply_id)


async def _row(app: App, reply_id: UUID) -> dict[str, Any]:
    async with app.database.reading() as conn:
        row = await fetch_one(conn, SQL.reply, {"reply_id": reply_id})
    assert row is not None
    return row


# Taking an address off the list of those that get no mail of ours; a later bounce or complaint puts it back.


class NotSuppressed(Permanent):
    """Only an address on the list can be taken off it."""


async def lift(app: App, address: str, *, reason: str, by: str, timeout_s: float) -> tuple[str, bool]:
    """Ask for it, and wait for the decision: the address as it is listed, and whether it is off the list.

    Raises `NotSuppressed` or `NotDecidedYet`.
    """
    row = await _suppressed(app, address)
    if row is None or row["thread_id"] is None:
        raise NotSuppressed(f"{address} is not suppressed; `correspondent suppressions list` shows what is")
    request = SuppressionLiftRequested(reply_id=row["reply_id"], thread_id=row["thread_id"], reason=reason, by=by)
    await decision_on(app, request, CONSUMER, timeout_s=timeout_s)
    return str(row["addr"]), await _suppressed(app, address) is None


async def _suppressed(app: App, address: str) -> dict[str, Any] | None:
    args = {"workspace": app.settings.workspace, "addr": MailboxKey(address)}
    async with app.database.reading() as conn:
        return await fetch_one(conn, SQL.one_suppressed, args)
