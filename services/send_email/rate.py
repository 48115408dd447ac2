"""Replies per hour and inbox: what is over the rate gets a moment of its own, and a timer; nothing is lost.

The rate is kept by the wall clock, since it is the mail server that counts. A moment, once given, is in the ledger;
moments are given under the inbox's lock, so that no two senders give the same one.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from schemas.events.replies import ReplyApproved, ReplyDeferred
from services.core.bus.unit import Unit
from services.core.bus.work import Work
from services.core.db import fetch_one
from services.send_email.apply import SQL
from services.send_email.load import DeliveryRow
from services.send_email.results import ids_of, retry_timer

WINDOW = timedelta(hours=1)


def moment(now: datetime, before: datetime | None) -> datetime:
    """When a reply may leave, where `before` is the departure that has to be an hour old by then."""
    return now if before is None else max(now, before + WINDOW)


def limit_of(work: Work[Any], inbox: str) -> int:
    """Replies per hour of an inbox; 0 for no limit."""
    known = work.app.settings.known_inbox(inbox)
    return known.replies_per_hour if known else 0


def has_moment(row: DeliveryRow) -> bool:
    """Whether a moment was kept for this reply; a retry after the server's "not now" has none."""
    return row.departs_at is not None and row.departs_at == row.retry_at


async def waits(work: Work[Any], reply: ReplyApproved, row: DeliveryRow) -> bool:
    """Whether the reply has to wait for its moment; then the moment is recorded and the timer set."""
    limit = limit_of(work, reply.inbox)
    if limit and row.departs_at is not None and has_moment(row):
        return row.departs_at > work.app.now()
    if not limit or not await _looks_full(work, reply, limit):
        return False
    async with work.unit("rate", final=False) as unit:
        await unit.lock("delivery", reply.reply_id)
        now = work.app.now()
        at = await next_moment(unit, reply, limit, now)
        if at == now:
            return False
        said = f"{reply.inbox} sends at most {limit} replies an hour"
        kept = {"attempt": row.attempt, "retry_at": at, "departs_at": at}
        await unit.record(ReplyDeferred(**ids_of(reply), **kept, error=said))
        await unit.set_timer(retry_timer(reply, at))
    return True


async def _looks_full(work: Work[Any], reply: ReplyApproved, limit: int) -> bool:
    """A glance without locks, which most replies pass; the intent looks once more, under the inbox's lock."""
    args = {"workspace": work.workspace, "inbox": reply.inbox, "reply_id": reply.reply_id, "before": limit - 1}
    async with work.reading() as conn:
        row = await fetch_one(conn, SQL.nth_departure, args)
    now = work.app.now()
    return moment(now, row["departs_at"] if row else None) > now


async def next_moment(unit: Unit, reply: ReplyApproved, limit: int, now: datetime) -> datetime:
    """When this inbox may send, `now` or later; the inbox is locked until the end of the transaction."""
    args = {"workspace": unit.workspace, "inbox": reply.inbox, "reply_id": reply.reply_id}
    await unit.conn.execute(SQL.lock_inbox, args)
    row = await unit.one(SQL.nth_departure, **args, before=limit - 1)
    return moment(now, row["departs_at"] if row else None)
