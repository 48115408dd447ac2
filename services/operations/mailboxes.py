"""Rows older than the mailbox key get it, and people who shared an id are taken apart: once, after an upgrade.

Runs at the start of the process that keeps time, by one process at a time. What a mail's own event says goes into its
row; where its author had an id that full case folding made, learn_facts is asked to take their memory apart, in the
transaction that moves the mails. Killed at any moment, it goes on at the next start; done, it does nothing.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import NAMESPACE_OID, UUID, uuid5

import structlog

from schemas.events.mail import EmailRead
from schemas.events.merging import ParticipantSplitRequested
from services.core.app import App, open_keys
from services.core.archive.archive import archive_of
from services.core.archive.history import Part, stored_events
from services.core.bus import event_store
from services.core.bus.envelope import Envelope, first
from services.core.bus.runner import publish
from services.core.db import fetch_one, queries
from services.core.db.locks import HeldElsewhere
from services.core.ids import author_id, former_participant_id
from services.core.mailbox import MailboxKey
from services.keep_time.keeper import KEEP_TIME
from services.operations.rebuild.shadow_schema import connected
from services.read_email.apply import SQL as MAILS

SQL = queries(__file__, "mailboxes.sql")
BATCH = 500

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Written:
    """A mail with its author's address as they wrote it; `former` and `own` are their ids, before and now."""

    mail_id: UUID
    address: str
    name: str
    at: datetime
    former: UUID
    own: UUID


async def give_mailbox_keys(app: App) -> int:
    """Give older rows their mailbox keys; how many mails were given another author."""
    workspace = app.settings.workspace
    async with app.database.reading() as conn:
        row = await fetch_one(conn, SQL.waiting, {"workspace": workspace})
    if not (row and row["there"]):
        return 0
    try:
        async with app.locks.hold(uuid5(NAMESPACE_OID, f"mailboxes/{workspace}")):
            moved = sum([await _give(app, batch) async for batch in _batches(app)])
            async with app.database.transaction(workspace) as conn:
                await conn.execute(MAILS.leave_mailbox, {"workspace": workspace})
    except HeldElsewhere:
        return 0
    log.info("mailboxes have their keys", mails_of_another_author=moved)
    return moved


async def _batches(app: App) -> AsyncIterator[list[Written]]:
    """The mails that can be read, from the archive too, in the order of storing."""
    settings, batch = app.settings, list[Written]()
    async with open_keys(settings) as keys, connected(settings.database_url, keys) as conn:
        async for event in stored_events(conn, Part(kinds=("mail",)), archive_of(settings)):
            if isinstance(event, Envelope) and event.workspace == settings.workspace:
                batch += [one for one in [_written(event)] if one]
            if len(batch) == BATCH:
                yield batch
                batch = []
    yield batch


def _written(event: Envelope) -> Written | None:
    mail = event.data
    if not isinstance(mail, EmailRead) or mail.author is None:
        return None
    former = former_participant_id(event.workspace, mail.author.addr)
    own = author_id(event.workspace, mail.author.addr, former) or former
    return Written(mail.mail_id, mail.author.addr, mail.author.name, event.time, former, own)


async def _give(app: App, batch: Sequence[Written]) -> int:
    """The rows, and the requests to take apart whom they show to be two, in one transaction."""
    workspace = app.settings.workspace
    moved = {(one.former, one.own): one for one in batch if one.former != one.own}
    asked = [_request(app, one) for one in moved.values()]
    async with app.database.transaction(workspace) as conn, conn.cursor() as cursor:
        await cursor.executemany(MAILS.give_mailbox, [_row(workspace, one) for one in batch])
        stored = await event_store.store(conn, asked)
    await publish(app, stored)
    return sum(one.former != one.own for one in batch)


def _row(workspace: str, one: Written) -> dict[str, object]:
    ids = {"mail_id": one.mail_id, "former": one.former, "own": one.own}
    return {"workspace": workspace, "written": one.address, "key": MailboxKey(one.address), **ids}


def _request(app: App, one: Written) -> Envelope:
    """The same batch asks with the same id."""
    data = ParticipantSplitRequested(
        participant_id=one.former, into=one.own, addr=one.address, name=one.name, seen_at=one.at
    )
    id = uuid5(one.own, f"split/{one.former}/{one.mail_id}")
    return first(data, id=id, source=KEEP_TIME, time=app.now(), workspace=app.settings.workspace)
