"""The mails of a thread: who sent each, what is attached, and the whole mail from its stored bytes."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from services.core.app import App
from services.core.blobs import BlobMissing
from services.core.db import Connection, fetch_all, fetch_one, queries
from services.core.errors import Permanent
from services.core.keys import Erased
from services.mail.message import ParsedMail
from services.mail.mime import read_mail

SQL = queries(__file__, "mails.sql")


class MailUnknown(Permanent):
    """There is no such mail here, or what it said is not kept any more."""


@dataclass(frozen=True, slots=True)
class MailLine:
    """A mail as its headers and the checks of its sender have it; `attachments` are `AttachmentRef` as stored."""

    mail_id: UUID
    thread_id: UUID
    subject: str
    author_name: str
    author_addr: str
    received_at: datetime
    identity: str
    verdict: str
    reason: str
    quoted: str
    blob: str
    attachments: list[dict[str, Any]]


async def mails_of(conn: Connection, workspace: str, mail_ids: Sequence[UUID]) -> dict[UUID, MailLine]:
    """Mails by id, those of this workspace."""
    rows = await fetch_all(conn, SQL.mails, {"workspace": workspace, "ids": list(mail_ids)})
    return {row["mail_id"]: MailLine(**row) for row in rows}


async def mail_line(conn: Connection, workspace: str, mail_id: UUID) -> MailLine:
    """One mail. Raises `MailUnknown`."""
    row = await fetch_one(conn, SQL.mails, {"workspace": workspace, "ids": [mail_id]})
    if row is None:
        raise MailUnknown(f"there is no mail {mail_id}")
    return MailLine(**row)


async def whole_mail(app: App, line: MailLine) -> ParsedMail:
    """The mail read again from its stored bytes. Raises `MailUnknown` where they are gone."""
    return await asyncio.to_thread(read_mail, await _content(app, line.blob))


async def attached_file(app: App, line: MailLine, number: int) -> tuple[str, bytes]:
    """Name and bytes of an attachment, counted from 0. Raises `MailUnknown`."""
    if not 0 <= number < len(line.attachments):
        raise MailUnknown(f"the mail {line.mail_id} has no attachment {number + 1}")
    one = line.attachments[number]
    return str(one["filename"]), await _content(app, str(one["blob"]))


async def _content(app: App, blob: str) -> bytes:
    try:
        return await app.blobs.get(blob)
    except (BlobMissing, Erased):
        raise MailUnknown("what this mail said is not kept any more: it was erased, or its retention is over") from None
