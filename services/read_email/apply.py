"""Applies `email.read` to the tables of read_email."""

from __future__ import annotations

from uuid import UUID

from psycopg.types.json import Jsonb

from schemas.events.mail import EmailRead
from schemas.events.retention import MailBodyExpired
from services.core.bus.envelope import Envelope
from services.core.bus.unit import Appliers
from services.core.db import Connection, queries
from services.core.ids import author_id
from services.core.mailbox import MailboxKey

SQL = queries(__file__)


async def _email_read(conn: Connection, envelope: Envelope) -> None:
    mail = envelope.data
    assert isinstance(mail, EmailRead)
    by_hand = mail.verdict.filter == "sent_folder"
    flat = {
        **mail.model_dump(exclude={"to", "cc", "attachments", "report"}),
        "workspace": envelope.workspace,
        "at": envelope.time,
        "author_name": mail.author.name if mail.author else "",
        "author_addr": MailboxKey(mail.author.addr) if mail.author else "",
        "author_written": mail.author.addr if mail.author else "",
        "participant_id": _participant(envelope.workspace, mail),
        "recipients": list(mail.participants),
        "references_ids": list(mail.references),
        "identity_level": mail.identity.level,
        "trusted": mail.identity.trusted,
        "signatures": list(mail.identity.signatures),
        "verdict_kind": mail.verdict.kind,
        "reason": mail.verdict.reason,
        "filter": mail.verdict.filter,
        "flag_list": list(mail.flags),
        "attachments": Jsonb([one.model_dump() for one in mail.attachments]),
        "answered_ids": list(dict.fromkeys((*mail.in_reply_to, *mail.references))) if by_hand else [],
    }
    await conn.execute(SQL.insert_mail, flat)
    if mail.verdict.kind in ("answer", "human", "colleague"):
        for message_id in dict.fromkeys((mail.message_id, *mail.awaits)):
            args = {"workspace": envelope.workspace, "message_id": message_id, "thread_id": mail.thread_id}
            await conn.execute(SQL.insert_message_thread, args)


def _participant(workspace: str, mail: EmailRead) -> UUID | None:
    """Older events know the author by an id that several mailboxes could share."""
    return author_id(workspace, mail.author.addr, mail.participant_id) if mail.author else mail.participant_id


async def _body_expired(conn: Connection, envelope: Envelope) -> None:
    await conn.execute(SQL.empty_mail, {**envelope.data.model_dump(), "at": envelope.time})


APPLIERS: Appliers = {EmailRead: _email_read, MailBodyExpired: _body_expired}
