"""What customers say of answers: by the link in a reply, and what came of it."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from schemas.events.ratings import RatingRequested
from services.core.app import App
from services.core.db import fetch_one, queries
from services.core.errors import Permanent
from services.mail.link_tokens import rated_by
from services.operations.requests import ask
from services.track_threads.ratings import Rated

SQL = queries(__file__, "ratings.sql")
LONGEST_COMMENT = 2_000  # characters


class LinkUnknown(Permanent):
    """The link is none of ours, not whole, or older than what is kept of the reply."""


class RatingOver(Permanent):
    """The reply was rated, and that can be changed no more."""


@dataclass(frozen=True, slots=True)
class Ratable:
    """A reply that a link names, with what was said of it."""

    reply_id: UUID
    thread_id: UUID
    rated: Rated


async def ratable(app: App, token: str) -> Ratable:
    """The reply that a link names. Raises `LinkUnknown`."""
    reply_id = rated_by(app.signing_keys, app.settings.workspace, token)
    async with app.database.reading() as conn:
        args = {"workspace": app.settings.workspace, "reply_id": reply_id}
        row = await fetch_one(conn, SQL.ratable, args) if reply_id else None
    if reply_id is None or row is None:
        raise LinkUnknown("this link is not one of ours, or not whole, or too old")
    return Ratable(reply_id, row.pop("thread_id"), Rated(**row))


async def rate(app: App, reply: Ratable, good: bool, comment: str) -> None:
    """Put a rating on the log, unless it says what was said last. Raises `RatingOver`."""
    said = comment.strip()[:LONGEST_COMMENT]
    if reply.rated.says(good, said):
        return
    if not reply.rated.counts(app.now()):
        raise RatingOver("this answer was rated, and that can be changed no more")
    asked = RatingRequested(thread_id=reply.thread_id, reply_id=reply.reply_id, good=good, comment=said)
    await ask(app, asked)
