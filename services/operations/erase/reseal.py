"""What becomes of the sealed events: the person's own lose their content, what others wrote gets another key.

Invariants
- What is sealed under keys of others alone is neither read nor changed, whatever it says of the person.
- A mail that others wrote to the person was sealed with a key of theirs too, which goes. The mail is sealed again with
  a key of the others, without the person's addresses and name, and without its raw bytes, whose headers hold them. Its
  attachments stay as they are.
- Archived files are not rewritten: what others wrote in them stands in `resealed_events` from then on, and so does what
  is left of the person's events that no key had sealed.
- Everything made from a whole conversation goes: a context, a reply, a summary may hold anything that was said in it.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import UUID

from psycopg.types.json import Jsonb

from schemas.events import EVENTS
from schemas.events.mail import EmailRead
from services.core.archive.archive import Archive
from services.core.archive.history import NoKeys
from services.core.blobs import BlobMissing
from services.core.bus import event_store
from services.core.bus.event_row import EventRow
from services.core.bus.sealing import sealed_with
from services.core.db import Connection, keys_of
from services.core.keys import Keys, SubjectKey
from services.core.keys.aead import KEY, OF, SEALED
from services.core.keys.keyring import People
from services.core.sealed_blobs import SEALED as BLOB
from services.core.sealed_blobs import SealedBlobs
from services.operations.erase.survey import SQL, Survey, kept, key_of, sealed_rows

Place = tuple[str, UUID]


@dataclass(slots=True)
class Resealed:
    """What was done: keys that are gone, events that lost their content, aggregates that one of them changed."""

    keys: set[UUID] = field(default_factory=set)
    shredded: set[UUID] = field(default_factory=set)
    kept: set[UUID] = field(default_factory=set)
    places: set[Place] = field(default_factory=set)
    threads: set[UUID] = field(default_factory=set)
    mails: set[UUID] = field(default_factory=set)
    blobs: set[str] = field(default_factory=set)
    unkeyed: bool = False  # some were stored in the clear, before there were keys


async def reseal(conn: Connection, blobs: SealedBlobs, found: Survey, archive: Archive) -> Resealed:
    """Shred and re-seal in the caller's transaction, which then holds every key concerned for itself alone."""
    keys = keys_of(conn)
    if keys is None:
        raise NoKeys
    owners = await keys.owned(conn, found.workspace, found.people)
    rows = await sealed_rows(conn, found, owners, archive)
    theirs = kept(rows, found.people)
    stays = {row.id for row in theirs}
    raw = [row.data["mail_id"] for row in theirs if row.type == EmailRead.TYPE]
    of_mails = await keys.take(conn, found.workspace, subjects=raw)
    rows += await sealed_rows(conn, found, of_mails.keys() - owners.keys(), archive)
    owners |= of_mails
    await keys.destroy(conn, owners)
    done = Resealed(keys=set(owners), kept=stays)
    for row in {row.id: row for row in rows}.values():
        _note(done, row)
        done.blobs |= {name for name in names_in(json.dumps(row.data)) if UUID(name[:32]) in owners}
        key = key_of(row)
        if key and row.id in stays:
            await _keep(conn, keys, blobs, found, row, owners[key] - found.people)
        else:
            done.shredded.add(row.id)
            done.unkeyed |= key is None
            if not row.archived or key is None:
                await _shred(conn, found.workspace, row)
    return done


def _note(done: Resealed, row: EventRow) -> None:
    if row.aggregate is not None and row.aggregate_id is not None and row.version is not None:
        done.places.add((row.aggregate, row.aggregate_id))
    if thread := row.data.get("thread_id"):
        done.threads.add(UUID(thread))
    if (mail := row.data.get("mail_id")) and row.type == EmailRead.TYPE:
        done.mails.add(UUID(mail))


async def _keep(conn: Connection, keys: Keys, blobs: SealedBlobs, found: Survey, row: EventRow, owners: People) -> None:
    data: dict[str, Any] = found.redactor.redacted(row.data)
    if row.type == EmailRead.TYPE:
        data["blob"] = ""
    key = (await keys.hold(conn, found.workspace, [owners]))[owners]
    data = await _with_own_blobs(blobs, data, key)
    envelope = replace(row, sealed=None, data=EVENTS[row.type].model_validate(data).model_dump()).envelope()
    anew = {"id": row.id, "workspace": found.workspace, "data": Jsonb(sealed_with(envelope, key).sealed)}
    await conn.execute(SQL.keep_archived if row.archived else event_store.SQL.replace_data, anew)


async def _with_own_blobs(blobs: SealedBlobs, data: dict[str, Any], key: SubjectKey) -> dict[str, Any]:
    """The data with its blobs under the new key; what is missing has no name any more."""
    text = json.dumps(data)
    for name in names_in(text):
        text = text.replace(name, await _moved(blobs, name, key))
    moved: dict[str, Any] = json.loads(text)
    return moved


async def _moved(blobs: SealedBlobs, name: str, key: SubjectKey) -> str:
    try:
        return await blobs.put(await blobs.get(name), key)
    except BlobMissing:
        return ""


def names_in(text: str) -> set[str]:
    """The sealed blobs that a text names."""
    return {one[0] for one in BLOB.finditer(text)}


async def _shred(conn: Connection, workspace: str, row: EventRow) -> None:
    """Nothing but the skeleton stays; the ciphertext goes too, should a copy of the key exist somewhere."""
    sealed = row.sealed_form
    if sealed is None:
        skeleton = row.envelope().data.skeleton()
        sealed = {**skeleton, OF: str(row.id), KEY: str(UUID(int=0))}
    left = {"id": row.id, "workspace": workspace, "data": Jsonb({**sealed, SEALED: ""})}
    await conn.execute(SQL.keep_archived if row.archived else event_store.SQL.replace_data, left)
