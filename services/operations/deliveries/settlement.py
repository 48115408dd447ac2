"""A person's word on a reply of which nobody knows whether it was sent: it is never sent again."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from schemas.events.replies import DeliverySettled
from services.core.app import App
from services.core.bus.envelope import first
from services.core.clock import random_id
from services.core.db import fetch_one
from services.core.errors import Permanent
from services.operations.deliveries.listing import SQL
from services.operations.idle import newest, until_idle
from services.operations.ids import whole_id


class NothingToSettle(Permanent):
    """Only what is unknown can be settled."""


async def settle(app: App, typed: str, *, sent: bool, reason: str, by: str) -> dict[str, Any]:
    """Give the word on the reply whose id begins so; its `state` and `detail` after it.

    Raises `IdUnclear`, `NothingToSettle` or `StillBusy`.
    """
    reply_id = await whole_id(app, typed, "reply")
    row = await _row(app, reply_id)
    if row["state"] != "unknown":
        raise NothingToSettle(f"{reply_id} is {row['state']}; only what is unknown can be settled")
    word = DeliverySettled(reply_id=reply_id, thread_id=row["thread_id"], sent=sent, reason=reason, by=by)
    from services.core.bus.runner import enter

    since = await newest(app)
    envelope = first(word, id=random_id(), source="console", time=app.now(), workspace=app.settings.workspace)
    await enter(app, envelope)
    await until_idle(app, since=since)
    return await _row(app, reply_id)


async def _row(app: App, reply_id: UUID) -> dict[str, Any]:
    async with app.database.reading() as conn:
        row = await fetch_one(conn, SQL.reply, {"reply_id": reply_id})
    assert row is not None
    return row
