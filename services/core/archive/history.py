"""The stored history, wherever it lies: first the archived files, then the table `events`.

Invariants
- An aggregate's events come in the order of their versions. Archived are always its oldest ones.
- What can no longer be read, because somebody was erased, comes as `Unreadable`; or, in a thread in which others go on,
  as what is left of it without its texts.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import islice
from typing import Any

from services.core.archive import file
from services.core.archive.archive import Archive
from services.core.archive.file import Manifest
from services.core.archive.places import ArchiveMissing
from services.core.bus import event_store
from services.core.bus.envelope import Envelope
from services.core.bus.event_row import EventRow, opened_rows
from services.core.bus.event_store import Unreadable
from services.core.db import Connection, fetch_all, keys_of, queries
from services.core.errors import Permanent
from services.core.keys import Keys

SQL = queries(__file__, "history.sql")
BATCH = 2000


@dataclass(frozen=True, slots=True)
class Part:
    """Which part of the history: None filters nothing.

    `kinds` are aggregates; `keys` are Kafka keys, and `documents` lets the whole knowledge base in with them. `until`
    is an event time, and no event behind a later one of its aggregate is in; `after` (exclusive) and `upto` (inclusive)
    are places in the log (`events.seq`).
    """

    kinds: tuple[str, ...] | None = None
    keys: tuple[str, ...] | None = None
    documents: bool = False
    until: datetime | None = None
    after: int | None = None
    upto: int | None = None

    def takes(self, row: EventRow) -> bool:
        """Whether a row of `events` is in, `until` apart: it changes an aggregate and nothing filters it out."""
        return (
            row.version is not None
            and (self.kinds is None or row.aggregate in self.kinds)
            and (self.keys is None or row.key in self.keys or (self.documents and row.aggregate == "document"))
            and (self.after is None or row.seq > self.after)
            and (self.upto is None or row.seq <= self.upto)
        )


WHOLE = Part()
Stored = Envelope | Unreadable


class NoKeys(Permanent):
    """The history is read through a connection that has no keys: what is about people would all seem erased."""


async def stored_events(
    source: Connection, part: Part = WHOLE, archive: Archive | None = None
) -> AsyncIterator[Stored]:
    """The events of a part of the history, as of one moment.

    Raises `ArchiveMissing` where older events are archived and nobody says where, `ArchiveDamaged`, and `NoKeys`.
    """
    keys = keys_of(source)
    if keys is None:
        raise NoKeys
    late: set[tuple[Any, ...]] = set()
    async with source.transaction():
        await source.execute(SQL.one_moment)
        blanked: dict[tuple[Any, ...], int] = {
            (row["workspace"], "thread", row["thread_id"]): row["upto"] for row in await fetch_all(source, SQL.blanked)
        }
        async for batch in _batches(source, keys, part, archive):
            for row in batch:
                place = (row.workspace, row.aggregate, row.aggregate_id)
                if part.until is not None and (place in late or row.time > part.until):
                    late.add(place)
                    continue
                yield event_store.read(row, blanked=(row.version or 0) <= blanked.get(place, 0))


async def readable(events: AsyncIterator[Stored]) -> AsyncIterator[Envelope]:
    """Those of the events that can be read."""
    async for one in events:
        if isinstance(one, Envelope):
            yield one


async def manifests(source: Connection) -> list[Manifest]:
    """The archived files that count, oldest events first."""
    return [Manifest(**row) for row in await fetch_all(source, SQL.manifests)]


async def archived_rows(said: list[Manifest], archive: Archive | None) -> AsyncIterator[EventRow]:
    """Every row of some files. Raises `ArchiveMissing` or `ArchiveDamaged`."""
    for one in said:
        if archive is None:
            raise ArchiveMissing(f"{one.file} holds older events: say where archived events lie")
        rows = file.rows(await asyncio.to_thread(archive.open, one.file, one.place), one)
        while batch := await asyncio.to_thread(_next, rows):
            for row in batch:
                yield row


async def archived_of(
    source: Connection, archive: Archive | None, wanted: Callable[[EventRow], bool]
) -> list[EventRow]:
    """The archived rows that are wanted, asked of each as it is stored, then opened. Raises as `opened_archive`."""
    keys = keys_of(source)
    if keys is None:
        raise NoKeys
    return await opened_rows(keys, [row async for row in _archived(source, archive) if wanted(row)])


async def opened_archive(source: Connection, archive: Archive | None) -> AsyncIterator[EventRow]:
    """Every archived row, opened where its key exists. Raises as `archived_rows` does, and `NoKeys`."""
    keys = keys_of(source)
    if keys is None:
        raise NoKeys
    async for batch in _in_batches(_archived(source, archive)):
        for row in await opened_rows(keys, batch):
            yield row


async def _archived(source: Connection, archive: Archive | None) -> AsyncIterator[EventRow]:
    """The archived rows; those that an erase has sealed again, as they are now."""
    said = await manifests(source)
    anew = (
        {row["event_id"]: row["data"] for row in await (await source.execute(SQL.resealed)).fetchall()} if said else {}
    )
    async for row in archived_rows(said, archive):
        yield replace(row, data=anew[row.id]) if row.id in anew else row


async def _batches(
    source: Connection, keys: Keys, part: Part, archive: Archive | None
) -> AsyncIterator[list[EventRow]]:
    """The rows of a part, opened, first the archived ones."""
    async for batch in _in_batches(_archived(source, archive)):
        yield await opened_rows(keys, [row for row in batch if part.takes(row)])
    args = {
        "kinds": None if part.kinds is None else list(part.kinds),
        "keys": None if part.keys is None else list(part.keys),
        "documents": part.documents,
        "after": part.after,
        "upto": part.upto,
    }
    async with source.cursor(name="history") as cursor:
        await cursor.execute(SQL.aggregate_events, args)
        while rows := await cursor.fetchmany(BATCH):
            await keys.open_rows(rows)
            yield [EventRow.of(**row) for row in rows]


async def _in_batches(rows: AsyncIterator[EventRow]) -> AsyncIterator[list[EventRow]]:
    batch: list[EventRow] = []
    async for row in rows:
        batch.append(row)
        if len(batch) == BATCH:
            yield batch
            batch = []
    yield batch


def _next(rows: Iterator[EventRow]) -> list[EventRow]:
    return list(islice(rows, BATCH))
