"""The one way in: raw bytes stored, then `mail.received.v1` stored and on the log, then the source may forget.

The mail's id is made from where it lay at its source, so the same mail offered again is the same event, and the
event that was stored first is the one that is published, whoever publishes it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal
from uuid import UUID, uuid5

from schemas.events.mail import MailReceived, Mode, Peer
from services.core.app import App
from services.core.bus import event_store
from services.core.bus.envelope import Envelope, first
from services.core.bus.event_row import OutboxEvent
from services.core.bus.runner import publish
from services.core.bus.sealing import key_id, key_of
from services.core.db import fetch_one, queries, row_as
from services.core.errors import Temporary
from services.core.settings import InboxSettings
from services.receive_email.fingerprint import fingerprint

Source = Literal["imap", "webhook", "file"]

NAME = "receive_email"
SQL = queries(__file__)
_MAILS = UUID("5e9c1a52-6d0e-5b0a-9b7e-3c1f0a8e7d21")  # the name space of mail ids


@dataclass(frozen=True, slots=True)
class Accepted:
    """The mail is safe with us; `new` is False where it was before."""

    mail_id: UUID
    new: bool


class KeyLost(Temporary):
    """Postgres crashed, and lost the key under which a mail's bytes were kept: they are to be kept again."""


def mail_id_of(workspace: str, inbox: str, source: Source, source_key: str) -> UUID:
    """The id of the mail that `source` of `inbox` calls `source_key`."""
    return uuid5(_MAILS, "\0".join((workspace, inbox, source, source_key)))


async def accept(
    app: App,
    inbox: InboxSettings,
    raw: bytes,
    *,
    source: Source,
    source_key: str,
    mode: Mode = "live",
    peer: Peer | None = None,
    vouched_by: str = "",
    once_by_content: bool = False,
    from_sent: bool = False,
) -> Accepted:
    """Let one mail in; when this returns, the source may forget it. Raises before that, and then it may not.

    With `once_by_content` a mail whose Message-ID and body this inbox has had before is not let in again, for a
    source that has forgotten its keys. `from_sent` says that it lay in the inbox's own Sent folder.
    Mail of any size is accepted: `read_email` parks what is over its limits.
    """
    mark = fingerprint(raw)
    if once_by_content and (known := await _known(app, inbox, mark)):
        await _publish_stored(app, known)
        return Accepted(known, new=False)
    mail_id = mail_id_of(app.settings.workspace, inbox.name, source, source_key)
    data = MailReceived(
        mail_id=mail_id,
        inbox=inbox.name,
        source=source,
        source_key=source_key,
        blob=await _keep(app, mail_id, raw),
        size=len(raw),
        mode=mode,
        vouched_by="" if from_sent else vouched_by or inbox.vouched_by,
        from_sent=from_sent,
        peer=peer or Peer(),
    )
    try:
        new = await _enter_once(app, data, mark)
    except KeyLost:
        kept = data.model_copy(update={"blob": await _keep(app, mail_id, raw)})
        new = await _enter_once(app, kept, mark)
    return Accepted(data.mail_id, new=new)


async def _keep(app: App, mail_id: UUID, raw: bytes) -> str:
    """Store the bytes under a key of the mail's own: nobody has read yet who wrote it.

    Nobody waits until the key is on disk: it is, once the event is that names them. See `KeyLost`.
    """
    async with app.database.transaction(app.settings.workspace, to_disk=False) as conn:
        key = await key_of(conn, app.settings.workspace, frozenset({mail_id}), to_disk=False)
    return await app.blobs.put(raw, key)


async def _known(app: App, inbox: InboxSettings, mark: str) -> UUID | None:
    args = {"workspace": app.settings.workspace, "inbox": inbox.name, "fingerprint": mark}
    async with app.database.reading() as conn:
        row = await fetch_one(conn, SQL.receipt, args)
    return row["mail_id"] if row else None


async def _publish_stored(app: App, mail_id: UUID) -> None:
    async with app.database.reading() as conn:
        stored = await row_as(conn, OutboxEvent.of, SQL.event, {"id": _event_id(mail_id)})
    if stored and stored.unpublished:
        await publish(app, [stored.envelope()])


async def _enter_once(app: App, data: MailReceived, mark: str) -> bool:
    """Store the event and its receipt unless they are there, publish what is not published; whether it was new."""
    envelope = _envelope(app, data)
    async with app.database.transaction(envelope.workspace) as conn:
        await conn.execute(SQL.hold_event, {"id": envelope.id})
        new = await fetch_one(conn, SQL.is_receipted, {"mail_id": data.mail_id}) is None
        if new:
            [envelope] = await event_store.store(conn, [envelope])
            # The event was sealed with a key that was made anew, so the one that its bytes were kept under is lost.
            if (key := key_id(envelope)) and not data.blob.startswith(key.hex):
                raise KeyLost
            await conn.execute(SQL.keep_receipt, _receipt(envelope, data, mark))
    if new:
        await publish(app, [envelope])
    else:
        await _publish_stored(app, data.mail_id)
    return new


def _envelope(app: App, data: MailReceived) -> Envelope:
    return first(data, id=_event_id(data.mail_id), source=NAME, time=app.now(), workspace=app.settings.workspace)


def _event_id(mail_id: UUID) -> UUID:
    return uuid5(mail_id, MailReceived.TYPE)


def _receipt(envelope: Envelope, data: MailReceived, mark: str) -> dict[str, Any]:
    return {"mail_id": data.mail_id, "workspace": envelope.workspace, "inbox": data.inbox, "fingerprint": mark}
