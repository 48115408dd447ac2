"""What people in the team think of the agent's replies that left: good, or not and why.

Rows, not events: nothing follows from them but figures, and they hold nobody's words, only a reason of a list.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, get_args
from uuid import UUID

from services.core.app import App
from services.core.db import Connection, fetch_one, queries, rows_as
from services.core.errors import Permanent

SQL = queries(__file__, "thumbs.sql")
Reason = Literal["", "wrong facts", "wrong tone", "incomplete", "not needed", "other"]
REASONS: tuple[str, ...] = get_args(Reason)[1:]


class ThumbUnknown(Permanent):
    """There is no such reply of the agent that left."""


class ThumbRefused(Permanent):
    """A reply that is not good needs the reason, and one that is good has none."""


@dataclass(frozen=True, slots=True)
class Thumb:
    """What one person thinks of a reply."""

    reply_id: UUID
    by: str
    good: bool
    reason: str
    at: datetime


async def thumbs_of(conn: Connection, workspace: str, replies: Sequence[UUID]) -> list[Thumb]:
    """What is thought of some replies, the first who said so first."""
    return await rows_as(conn, Thumb, SQL.thumbs, {"workspace": workspace, "replies": list(replies)})


async def give_thumb(app: App, reply_id: UUID, by: str, good: bool, reason: Reason = "") -> UUID:
    """Keep what somebody thinks of a reply, in place of what they thought before; its thread's id.

    Raises `ThumbRefused`, `ThumbUnknown`.
    """
    if good == bool(reason):
        raise ThumbRefused("say why where a reply is not good, and only there")
    async with app.database.transaction(app.settings.workspace) as conn:
        reply = await _reply(app, conn, reply_id)
        said = {"by": by, "good": good, "reason": reason, "at": app.now()}
        await conn.execute(SQL.give, {**reply, **said, "workspace": app.settings.workspace})
    thread_id: UUID = reply["thread_id"]
    return thread_id


async def take_thumb_back(app: App, reply_id: UUID, by: str) -> UUID:
    """Keep nothing of what somebody thinks of a reply; its thread's id. Raises `ThumbUnknown`."""
    async with app.database.transaction(app.settings.workspace) as conn:
        reply = await _reply(app, conn, reply_id)
        await conn.execute(SQL.take_back, {"workspace": app.settings.workspace, "reply_id": reply_id, "by": by})
    thread_id: UUID = reply["thread_id"]
    return thread_id


async def _reply(app: App, conn: Connection, reply_id: UUID) -> dict[str, Any]:
    row = await fetch_one(conn, SQL.reply, {"workspace": app.settings.workspace, "reply_id": reply_id})
    if row is None:
        raise ThumbUnknown("the agent wrote no such reply that left")
    return row
