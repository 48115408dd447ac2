"""What becomes of the sealed events: the person's own lose their content, what others wrote gets another key.

Invariants
- A key that sealed a word about the person is destroyed, also where it sealed the words of others: those are sealed
  again, without the person's name and addresses, with a key of the others. So no copy on the log stays readable.
- A mail that others wrote is kept without its raw bytes, which quote and name whomever they like; its attachments stay,
  but for those that name the person packed (in a zip, a document), where a name cannot be taken out.
- Archived files are not rewritten: what others wrote in them stands in `resealed_events` from then on, and so does what
  is left of the person's events that no key had sealed.
- Everything made from a whole conversation goes: a context, a reply, a summary may hold anything that was said in it.
"""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import UUID

from psycopg.types.json import Jsonb

from schemas.events import EVENTS
from schemas.events.mail import EmailRead
from schemas.events.threads import MailAttached
from services.core.archive.archive import Archive
from services.core.archive.history import NoKeys
from services.core.blobs import BlobMissing
from services.core.bus import history
from services.core.bus.sealing import sealed_with
from services.core.db import Connection, keys_of
from services.core.keys import Keys, SubjectKey, is_sealed
from services.core.keys.aead import KEY, OF, SEALED
from services.core.keys.keyring import People
from services.core.sealed_blobs import SEALED as BLOB
from services.core.sealed_blobs import SealedBlobs
from services.tools.erase.inside import unpacked
from services.tools.erase.survey import SQL, Row, Survey, key_of, sealed_rows, wrote

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


async def reseal(conn: Connection, blobs: SealedBlobs, found: Survey, archive: Archive) -> Resealed:
    """Shred and re-seal in the caller's transaction, which then holds every key concerned for itself alone."""
    keys = keys_of(conn)
    if keys is None:
        raise NoKeys
    owners = await keys.owned(conn, found.workspace, found.people)
    touched = await keys.take(conn, found.workspace, found.touched - owners.keys())
    owners |= touched
    rows = await sealed_rows(conn, found, owners, archive)
    kept = _kept(rows, found.people, touched.keys())
    raw = [row["data"]["mail_id"] for row in rows if row["id"] in kept and row["type"] == EmailRead.TYPE]
    of_mails = await keys.take(conn, found.workspace, subjects=raw)
    rows += await sealed_rows(conn, found, of_mails.keys() - owners.keys(), archive)
    owners |= of_mails
    await keys.destroy(conn, owners)
    done = Resealed(keys=set(owners), kept=kept)
    for row in {row["id"]: row for row in rows}.values():
        _note(done, row)
        done.blobs |= {name for name in names_in(json.dumps(row["data"])) if UUID(name[:32]) in owners}
        key = key_of(row)
        if key and row["id"] in kept:
            await _keep(conn, keys, blobs, found, row, owners[key] - found.people)
        else:
            done.shredded.add(row["id"])
            if not row.get("archived") or key is None:
                await _shred(conn, found.workspace, row)
    return done


def _kept(rows: list[Row], people: People, touched: Collection[UUID]) -> set[UUID]:
    """The events whose content stays: under a key of others alone, and the mails that others wrote."""
    readable = [row for row in rows if key_of(row) and not is_sealed(row["data"])]
    theirs = {row["data"]["mail_id"] for row in readable if row["type"] == EmailRead.TYPE and _by_another(row, people)}
    return {
        row["id"]
        for row in readable
        if key_of(row) in touched
        or (row["type"] in (EmailRead.TYPE, MailAttached.TYPE) and row["data"]["mail_id"] in theirs)
    }


def _by_another(row: Row, people: People) -> bool:
    return row["data"]["participant_id"] is not None and not wrote(row, people) and not row["data"]["report"]


def _note(done: Resealed, row: Row) -> None:
    if row["version"] is not None:
        done.places.add((row["aggregate"], row["aggregate_id"]))
    if thread := row["data"].get("thread_id"):
        done.threads.add(UUID(thread))
    if (mail := row["data"].get("mail_id")) and row["type"] == EmailRead.TYPE:
        done.mails.add(UUID(mail))


async def _keep(conn: Connection, keys: Keys, blobs: SealedBlobs, found: Survey, row: Row, owners: People) -> None:
    data: dict[str, Any] = found.redactor(row["type"]).redacted(row["data"])
    if row["type"] == EmailRead.TYPE:
        data["blob"] = ""
    key = (await keys.hold(conn, found.workspace, [owners]))[owners]
    data = await _with_own_blobs(blobs, found, data, key)
    envelope = history.envelope({**row, "sealed": None, "data": EVENTS[row["type"]].model_validate(data).model_dump()})
    anew = {"id": row["id"], "workspace": found.workspace, "data": Jsonb(sealed_with(envelope, key).sealed)}
    await conn.execute(SQL.keep_archived if row.get("archived") else history.SQL.replace_data, anew)


async def _with_own_blobs(blobs: SealedBlobs, found: Survey, data: dict[str, Any], key: SubjectKey) -> dict[str, Any]:
    """The data with its blobs under the new key; what is missing, or names the person inside, has no name any more."""
    text = json.dumps(data)
    for name in names_in(text):
        text = text.replace(name, await _moved(blobs, found, name, key))
    moved: dict[str, Any] = json.loads(text)
    return moved


async def _moved(blobs: SealedBlobs, found: Survey, name: str, key: SubjectKey) -> str:
    try:
        content = found.redactor(EmailRead.TYPE).redacted_bytes(await blobs.get(name))
    except BlobMissing:
        return ""
    if any(found.marks.found_in(one) for one in await unpacked(content) if one is not None):
        return ""
    return await blobs.put(content, key)


def names_in(text: str) -> set[str]:
    """The sealed blobs that a text names."""
    return {one[0] for one in BLOB.finditer(text)}


async def _shred(conn: Connection, workspace: str, row: Row) -> None:
    """Nothing but the skeleton stays; the ciphertext goes too, should a copy of the key exist somewhere."""
    sealed = row["data"] if is_sealed(row["data"]) else row.get("sealed")
    if sealed is None:
        skeleton = replace(history.envelope(row)).data.skeleton()
        sealed = {**skeleton, OF: str(row["id"]), KEY: str(UUID(int=0))}
    left = {"id": row["id"], "workspace": workspace, "data": Jsonb({**sealed, SEALED: ""})}
    await conn.execute(SQL.keep_archived if row.get("archived") else history.SQL.replace_data, left)
