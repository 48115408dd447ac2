"""`correspondent deliveries settle`: a person's word on a reply of which nobody knows whether it was sent."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Annotated, Any
from uuid import UUID

import typer

from schemas.events.replies import DeliverySettled
from services.cli.terminal import console, plain
from services.core.app import App
from services.core.bus.envelope import first
from services.core.clock import random_id
from services.core.db import fetch_one, queries
from services.core.errors import Permanent
from services.operations.deployment import app_here
from services.operations.idle import newest, until_idle
from services.operations.ids import whole_id

SQL = queries(__file__, "settlement.sql")


class NothingToSettle(Permanent):
    """Only what is unknown can be settled."""


def settle(
    context: typer.Context,
    reply_id: Annotated[str, typer.Argument(help="The reply's id or its beginning, as `deliveries` shows it.")],
    sent: Annotated[bool, typer.Option("--sent/--failed", help="Whether it was sent.")],
    reason: Annotated[str, typer.Option(help="How you know, for the log.")] = "",
    by: Annotated[str, typer.Option(help="Who says so, for the log.")] = "operator",
) -> None:
    """Record what became of an unknown reply; it is never resent."""
    home: Path = context.obj
    asyncio.run(settle_reply(home, reply_id, sent=sent, reason=reason, by=by))


async def settle_reply(home: Path, typed: str, *, sent: bool, reason: str, by: str) -> None:
    """Give the word, and show what became of the reply. Raises `IdUnclear` or `NothingToSettle`."""
    async with app_here(home) as app:
        reply_id = await whole_id(app, typed, "reply")
        row = await _row(app, reply_id)
        if row["state"] != "unknown":
            raise NothingToSettle(f"{reply_id} is {row['state']}; only what is unknown can be settled")
        word = DeliverySettled(reply_id=reply_id, thread_id=row["thread_id"], sent=sent, reason=reason, by=by)
        workspace = app.settings.workspace
        from services.core.bus.runner import enter

        since = await newest(app)
        await enter(app, first(word, id=random_id(), source="console", time=app.now(), workspace=workspace))
        await until_idle(app, since=since)
        row = await _row(app, reply_id)
    console.print(plain(f"{row['state']}. {row['detail']}"))


async def _row(app: App, reply_id: UUID) -> dict[str, Any]:
    async with app.database.reading() as conn:
        row = await fetch_one(conn, SQL.reply, {"reply_id": reply_id})
    assert row is not None
    return row
