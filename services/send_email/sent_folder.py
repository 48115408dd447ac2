"""The inbox's Sent folder: a copy of each reply put there, and replies looked for. A failure here fails nothing."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import structlog

from schemas.events.replies import ReplySent
from services.core.bus.work import Work
from services.core.db import fetch_one
from services.core.house import House
from services.core.mail.imap import access_token, keep_copy, was_sent
from services.core.settings import ImapSettings
from services.send_email.apply import SQL

log = structlog.get_logger(__name__)

DEADLINE_S = 30.0


async def on_sent(work: Work[ReplySent]) -> None:
    """Put a copy of the sent reply, byte for byte, into the Sent folder, unless the provider has done so."""
    async with work.reading() as conn:
        row = await fetch_one(conn, SQL.delivery, {"reply_id": work.event.reply_id})
    imap = _imap(work.house, row["inbox"]) if row else None
    if row is None or imap is None or not imap.keep_sent:
        return
    raw = await work.house.blobs.get(row["blob"])
    await _there(imap, keep_copy, raw, row["message_id"])


async def lies_in_sent(house: House, inbox: str, message_id: str) -> bool:
    """Whether the mail was seen in the inbox's Sent folder; False also where that cannot be told."""
    imap = _imap(house, inbox)
    return imap is not None and await _there(imap, was_sent, message_id)


def _imap(house: House, inbox: str) -> ImapSettings | None:
    return next((one.imap for one in house.settings.inboxes if one.name == inbox), None)


async def _there(imap: ImapSettings, act: Callable[..., bool], *args: Any) -> bool:
    """Do something at the Sent folder, in a thread; False, and a line in the log, where it could not be done."""
    try:
        async with asyncio.timeout(DEADLINE_S):
            token = await access_token(imap.oauth) if imap.oauth else ""
            return await asyncio.to_thread(act, imap, token, *args)
    except Exception as error:
        log.warning("the Sent folder is away", host=imap.host, error=repr(error)[:500])
        return False
