"""Erases a person: one transaction for everything in the database, then what lies outside of it.

Invariants
- The transaction is the erase. A crash before its end changes nothing; after it, the next run (for anybody) clears
  what was left outside: blobs of keys that are gone, cached texts.
- Erasing again finds nothing and changes nothing. Mail that comes later begins a new person, with a new key.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from dataclasses import dataclass
from uuid import UUID, uuid5

import structlog

from schemas.events.memory import ParticipantErased
from schemas.events.threads import TurnFailed
from services.core.app import App
from services.core.archive.archive import archive_of
from services.core.bus import event_store
from services.core.bus.envelope import Envelope, first
from services.core.bus.runner import publish
from services.core.clock import random_id
from services.core.db import Connection, fetch_all, give_keys
from services.core.db.patience import when_free
from services.core.errors import Temporary
from services.core.keys.keyring import CACHE_S
from services.core.mailbox import MailboxKey
from services.core.suppressed import mark_of
from services.core.webhook_answers import forget_answers
from services.memory.embedding_cache import EMBEDDINGS
from services.operations.erase.refold import lock, refold
from services.operations.erase.reseal import Resealed, reseal
from services.operations.erase.survey import SQL, Survey
from services.operations.history_lock import hold
from services.operations.rebuild.run import SCHEMA, drop_past
from services.operations.rebuild.shadow_schema import connected
from services.operations.replay.leftovers import clear_leftovers
from services.operations.scrub.run import mark

log = structlog.get_logger(__name__)

NAME = "console"
TRIES, PAUSE_S = 20, 0.5


class DeploymentBusy(Temporary):
    """The person's rows were never free for a moment; nothing was changed. Try again at a quieter time."""


@dataclass(frozen=True, slots=True)
class Erased:
    """What was erased."""

    keys: int = 0
    events: int = 0
    kept: int = 0
    threads: int = 0
    refolded: int = 0


async def erase(app: App, found: Survey, *, by: str) -> Erased:
    """Erase, drop the past states that were left to be read, and clear what lies outside the database.

    Raises `DeploymentBusy` or `HistoryHeld`.
    """
    done, told = await _in_one_transaction(app, found, by)
    await drop_past(app.settings)
    await publish(app, told)
    await finish(app, found.workspace)
    return done


async def finish(app: App, workspace: str) -> int:
    """Clear blobs and cached texts of erasures that were interrupted after their transaction; how many there were.

    What killed replays and rebuilds have left of anybody goes too.
    """
    if running := [one for one in await clear_leftovers(app.settings) if one != SCHEMA]:
        log.warning("replays are running; what they hold goes when they end", schemas=running)
    async with app.database.reading() as conn:
        rows = await fetch_all(conn, SQL.unfinished, {"workspace": workspace})
    for row in rows:
        for name in row["blobs"]:
            await app.blobs.delete(name)
        await app.cache.drop_about(row["cached"])
    if rows:
        await asyncio.sleep(CACHE_S)  # what another process had read before may have gone into the cache since
    for row in rows:
        await app.cache.drop_about(row["cached"])
        async with app.database.reading() as conn:
            await conn.execute(SQL.finish_erasure, {"erasure_id": row["erasure_id"], "at": app.now()})
    return len(rows)


async def _in_one_transaction(app: App, found: Survey, by: str) -> tuple[Erased, list[Envelope]]:
    async def erase_now() -> tuple[Erased, list[Envelope]]:
        async with connected(app.settings.database_url) as conn, conn.transaction():
            give_keys(conn, app.keys.within(conn))
            return await _erase(conn, app, found, by)

    return await when_free(erase_now, tries=TRIES, pause_s=PAUSE_S, busy=DeploymentBusy())


async def _erase(conn: Connection, app: App, found: Survey, by: str) -> tuple[Erased, list[Envelope]]:
    archive = archive_of(app.settings)
    await hold(conn)
    threads = await _threads(conn, found)
    await lock(conn, found.workspace, await _places(conn, found, threads))
    done = await reseal(conn, app.blobs, found, archive)
    if not done.shredded and not done.kept:
        return Erased(), []
    threads |= done.threads
    # The events name aggregates that no table led to. These locks come out of the common order, so that two may wait
    # for each other: `when_free` tries again then.
    places = done.places | await _places(conn, found, threads)
    await lock(conn, found.workspace, places)
    shared = await _shared(conn, found, threads)
    await _keep_blank(conn, found, shared.keys(), threads)
    await _remember_suppressed(conn, found)
    folded = await refold(conn, found.workspace, places, threads, archive, found.people)
    await conn.execute(SQL.forget_uses, {"people": list(found.people)})
    await forget_answers(conn, list(threads))
    await conn.execute(SQL.wait_for_disk)
    await _forget(conn, done, threads - shared.keys())
    told = await _tell(conn, app, found, done, shared, by)
    await _begin(conn, app, found, done, threads, by)
    await mark(conn, app.now(), events=done.unkeyed)
    return Erased(len(done.keys), len(done.shredded), len(done.kept), len(threads), folded), told


async def _threads(conn: Connection, found: Survey) -> set[UUID]:
    rows = await fetch_all(conn, SQL.threads_of, {"workspace": found.workspace, "people": list(found.people)})
    return {row["thread_id"] for row in rows}


async def _places(conn: Connection, found: Survey, threads: Collection[UUID]) -> set[tuple[str, UUID]]:
    rows = await fetch_all(conn, SQL.places_of_threads, {"threads": list(threads)})
    return {(row["kind"], row["id"]) for row in rows} | {("participant", one) for one in found.people}


async def _shared(conn: Connection, found: Survey, threads: Collection[UUID]) -> dict[UUID, UUID | None]:
    """The threads in which others go on, with the turn that is open."""
    rows = await fetch_all(conn, SQL.shared_threads, {"threads": list(threads), "people": list(found.people)})
    return {row["thread_id"]: row["open_turn"] for row in rows}


async def _keep_blank(conn: Connection, found: Survey, shared: Collection[UUID], threads: Collection[UUID]) -> None:
    kept = {"workspace": found.workspace, "threads": list(shared)}
    await conn.execute(SQL.keep_blank, kept)
    await conn.execute(SQL.keep_nothing, {**kept, "threads": list(set(threads) - set(shared))})


async def _remember_suppressed(conn: Connection, found: Survey) -> None:
    """Who complained, or cannot be reached, is not written to again: a keyed hash of the address stays."""
    addresses = [MailboxKey(one) for one in found.addresses]
    args = {"workspace": found.workspace, "addresses": addresses}
    for row in await fetch_all(conn, SQL.suppressed, args):
        mark = await mark_of(conn, found.workspace, MailboxKey(row["addr"]))
        kept = {"workspace": found.workspace, "mark": mark, "reason": row["reason"], "at": row["at"]}
        await conn.execute(SQL.keep_suppressed, kept)


async def _forget(conn: Connection, done: Resealed, threads: Collection[UUID]) -> None:
    ids = list(done.shredded | done.kept)
    await conn.execute(event_store.SQL.forget_checkpoints, {"ids": ids})
    await conn.execute(event_store.SQL.forget_timers, {"threads": list(threads)})
    await conn.execute(EMBEDDINGS.empty)
    await conn.execute(SQL.forget_receipts, {"mails": list(done.mails)})


async def _tell(
    conn: Connection, app: App, found: Survey, done: Resealed, shared: dict[UUID, UUID | None], by: str
) -> list[Envelope]:
    """The events: who was erased; and a turn that others wait for is given to a human."""
    events: list[Envelope] = []
    for person in sorted(found.people):
        erased = ParticipantErased(participant_id=person, by=by, threads=tuple(shared), events=len(done.shredded))
        events.append(_first(app, found, erased, random_id()))
    for thread, turn in shared.items():
        if turn:
            said = "somebody who wrote in the thread was erased"
            failed = TurnFailed(thread_id=thread, turn_id=turn, processor=NAME, error=said)
            events.append(_first(app, found, failed, uuid5(events[0].id, str(turn))))
    return await event_store.store(conn, events)


async def _begin(conn: Connection, app: App, found: Survey, done: Resealed, threads: Collection[UUID], by: str) -> None:
    people = {id for kind, id in done.places if kind == "participant"} | found.people
    cached = sorted(str(one) for one in people | set(threads))
    args = {
        "workspace": found.workspace,
        "by": by,
        "at": app.now(),
        "blobs": sorted(done.blobs),
        "cached": cached,
        "threads": sorted(threads),
    }
    for person in found.people:
        await conn.execute(SQL.begin_erasure, {**args, "erasure_id": random_id(), "participant_id": person})


def _first(app: App, found: Survey, data: ParticipantErased | TurnFailed, id: UUID) -> Envelope:
    return first(data, id=id, source=NAME, time=app.now(), workspace=found.workspace)
