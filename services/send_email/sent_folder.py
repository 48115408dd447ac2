"""The inbox's Sent folder: a copy of each reply put there, and replies looked for. A failure here fails no reply.

The copy is tried again by timers, for days. Where the folder failed a moment ago, other copies wait at once: a server
that hangs must not hold the lanes in which replies leave.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import timedelta
from typing import Any
from uuid import UUID

import structlog

from schemas.events.replies import ReplyCopied, ReplyNotCopied, ReplySent
from services.core.app import App
from services.core.bus.work import Work
from services.core.db import fetch_one, row_as
from services.core.errors import Temporary
from services.core.retries import SENT_COPY
from services.core.settings import ImapSettings
from services.core.storable import storable
from services.mail.imap import access_token, keep_copy, token_store, was_sent
from services.send_email.apply import SQL
from services.send_email.load import DeliveryRow
from services.send_email.results import copy_timer

log = structlog.get_logger(__name__)

DEADLINE_S = 15.0
AWAY_FOR = timedelta(seconds=30)


class FolderAway(Temporary):
    """The Sent folder failed a moment ago, and was not asked again."""


async def on_sent(work: Work[ReplySent]) -> None:
    """The first try at a copy of the sent reply."""
    await copy(work, work.event.reply_id)


async def copy(work: Work[Any], reply_id: UUID) -> None:
    """Put the reply, byte for byte, into the Sent folder, unless it lies there; where that fails, try again later."""
    async with work.reading() as conn:
        row = await row_as(conn, DeliveryRow, SQL.delivery, {"reply_id": reply_id})
    imap = _imap(work.app, row.inbox) if row else None
    if row is None or imap is None or not imap.keep_sent or row.sent_copy in ("kept", "missing"):
        return
    try:
        if await _is_away(work, row):
            raise FolderAway
        raw = await work.app.blobs.get(row.blob)
        await _at(work.app, imap, keep_copy, raw, row.message_id)
    except Exception as error:
        await _missed(work, row, error)
    else:
        async with work.unit() as unit:
            await unit.record(ReplyCopied(**row.ids, attempt=row.copy_attempt + 1))


async def lies_in_sent(app: App, inbox: str, message_id: str) -> bool:
    """Whether the mail was seen in the inbox's Sent folder; False also where that cannot be told."""
    imap = _imap(app, inbox)
    try:
        return imap is not None and await _at(app, imap, was_sent, message_id)
    except Exception as error:
        log.warning("the Sent folder is away", inbox=inbox, error=repr(error)[:500])
        return False


async def _missed(work: Work[Any], row: DeliveryRow, error: Exception) -> None:
    attempt = row.copy_attempt + 1
    async with work.unit() as unit:
        at = SENT_COPY.after(attempt, work.moment())
        missed = ReplyNotCopied(
            **row.ids,
            attempt=attempt,
            error=storable(f"{type(error).__name__}: {error}"[:500]),
            retry_at=at,
            tried_at=None if isinstance(error, FolderAway) else work.app.now(),
        )
        await unit.record(missed)
        if at is not None:
            await unit.set_timer(copy_timer(row.reply_id, row.thread_id, at))


async def _is_away(work: Work[Any], row: DeliveryRow) -> bool:
    since = work.app.now() - AWAY_FOR
    args = {"workspace": work.workspace, "inbox": row.inbox, "reply_id": row.reply_id, "since": since}
    async with work.reading() as conn:
        return await fetch_one(conn, SQL.folder_is_away, args) is not None


def _imap(app: App, inbox: str) -> ImapSettings | None:
    known = app.settings.known_inbox(inbox)
    return known.imap if known else None


async def _at(app: App, imap: ImapSettings, act: Callable[..., bool], *args: Any) -> bool:
    """Do something at the Sent folder, in a thread that ends soon after its deadline."""
    hurried = imap.model_copy(update={"timeout_s": min(imap.timeout_s, DEADLINE_S)})
    async with asyncio.timeout(DEADLINE_S):
        token = await access_token(imap.oauth, token_store(app.settings)) if imap.oauth else ""
        return await asyncio.to_thread(act, hurried, token, *args)
