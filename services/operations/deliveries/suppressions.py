"""Taking an address off the list of those that get no mail of ours; a later bounce or complaint puts it back."""

from __future__ import annotations

from typing import Any

from schemas.events.replies import SuppressionLiftRequested
from services.core.app import App
from services.core.bus.envelope import first
from services.core.clock import random_id
from services.core.db import fetch_one
from services.core.errors import Permanent
from services.mail.mailbox import MailboxKey
from services.operations.deliveries.listing import SQL
from services.operations.idle import newest, until_idle


class NotSuppressed(Permanent):
    """Only an address on the list can be taken off it."""


async def lift(app: App, address: str, *, reason: str, by: str) -> tuple[str, bool]:
    """Ask for it, and wait until it is so: the address as it is listed, and whether it is off the list.

    Raises `NotSuppressed` or `StillBusy`.
    """
    row = await _suppressed(app, address)
    if row is None or row["thread_id"] is None:
        raise NotSuppressed(f"{address} is not suppressed; `correspondent suppressions list` shows what is")
    asked = SuppressionLiftRequested(reply_id=row["reply_id"], thread_id=row["thread_id"], reason=reason, by=by)
    from services.core.bus.runner import enter

    since = await newest(app)
    envelope = first(asked, id=random_id(), source="console", time=app.now(), workspace=app.settings.workspace)
    await enter(app, envelope)
    await until_idle(app, since=since)
    return str(row["addr"]), await _suppressed(app, address) is None


async def _suppressed(app: App, address: str) -> dict[str, Any] | None:
    args = {"workspace": app.settings.workspace, "addr": MailboxKey(address)}
    async with app.database.reading() as conn:
        return await fetch_one(conn, SQL.one_suppressed, args)
