"""Empties archived events: a file that holds what is too old is written again without it, and the former one removed.

One transaction holds the file's row, has the new file written, synced and read back, and names it. A former file that
is not removed then, because of a crash, does not count, and is removed in the next round.
"""

from __future__ import annotations

import asyncio
import json
import tempfile
from collections.abc import AsyncIterator, Iterator
from dataclasses import asdict, dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any
from uuid import UUID

from services.core.archive.archive import archive_of
from services.core.archive.file import Manifest, lines, typed, verify, write
from services.core.bus.event_row import EventRow, opened_rows
from services.core.db import Connection, fetch_all, fetch_one
from services.operations.retention.ask import SQL
from services.operations.retention.expired_events import Emptying, choose, emptied
from services.operations.retention.rounds import BATCH, Clearing


@dataclass(slots=True)
class Passed:
    """What was met in a file: how many rows went, how many had to stay, and whose former data the new file takes in."""

    gone: int = 0
    left: int = 0
    resealed: list[UUID] = field(default_factory=list)


async def due(what: Emptying, clearing: Clearing) -> int:
    """How many archived events hold what is too old and may go. Reads the files."""
    count = 0
    for _, said in await _files(what, clearing):
        async with clearing.app.database.transaction() as conn:
            met = Passed()
            async for _ in _emptied(conn, what, clearing, said, met):
                continue
        count += met.gone
    return count


async def empty(what: Emptying, clearing: Clearing) -> int:
    """Empty them; how many."""
    await remove_former(clearing)
    count = 0
    for number, said in await _files(what, clearing):
        if not clearing.stop.is_set():
            count += await _empty_file(what, clearing, number, said)
            await remove_former(clearing)
    return count


async def remove_former(clearing: Clearing) -> None:
    """Remove the files that others stand in for."""
    archive = archive_of(clearing.settings)
    async with clearing.app.database.reading() as conn:
        rows = await fetch_all(conn, SQL.former_files)
    for row in rows:
        await asyncio.to_thread(archive.at(row["place"]).remove, row["former"])
        async with clearing.app.database.reading() as conn:
            await conn.execute(SQL.forget_former, {"number": row["number"], "former": row["former"]})


async def _files(what: Emptying, clearing: Clearing) -> list[tuple[int, Manifest]]:
    args = {"day": clearing.before(what.days(clearing.settings.retention)).date(), "emptied": _mark(what, clearing)}
    async with clearing.app.database.reading() as conn:
        rows = await fetch_all(conn, SQL.files_with_texts, args)
    return [(row.pop("number"), Manifest(**row)) for row in rows]


async def _empty_file(what: Emptying, clearing: Clearing, number: int, said: Manifest) -> int:
    place, met = archive_of(clearing.settings).at(said.place), Passed()
    with tempfile.TemporaryDirectory(prefix="retention-") as aside:
        async with clearing.alone() as conn:
            if not await fetch_one(conn, SQL.file_as_it_is, {"number": number, "file": said.file}):
                return 0
            path = Path(aside) / "rows"
            manifest = await write(_emptied(conn, what, clearing, said, met), said.day, path)
            if manifest is not None and met.gone:
                await asyncio.to_thread(place.keep, manifest.file, path)
                await asyncio.to_thread(lambda: verify(place.open(manifest.file), manifest))
                await conn.execute(SQL.replace_file, {**asdict(manifest), "kinds": None, "number": number})
                await conn.execute(SQL.forget_resealed, {"ids": met.resealed})
            if not met.left:
                await conn.execute(SQL.note_emptied, {"number": number, "emptied": _mark(what, clearing)})
    return met.gone


async def _emptied(
    conn: Connection, what: Emptying, clearing: Clearing, said: Manifest, met: Passed
) -> AsyncIterator[str]:
    """The rows of a file as they are to be, as JSON."""
    given = lines(archive_of(clearing.settings).open(said.file, said.place), said)
    while batch := await asyncio.to_thread(_next, given):
        rows = [json.loads(line) for line in batch]
        anew = await fetch_all(conn, SQL.resealed_among, {"ids": [row["id"] for row in rows]})
        changed = {str(one["event_id"]): one.get("sealed") or one["data"] for one in anew}
        met.resealed += [UUID(id) for id in changed]
        stored = [typed({**row, "data": changed.get(row["id"], row["data"])}) for row in rows]
        changed |= await _going(conn, what, clearing, stored, met)
        for line, row in zip(batch, rows, strict=True):
            yield json.dumps({**row, "data": changed[row["id"]]}) if row["id"] in changed else line


async def _going(
    conn: Connection, what: Emptying, clearing: Clearing, rows: list[EventRow], met: Passed
) -> dict[str, dict[str, Any]]:
    """The data of those that go, by id."""
    before = clearing.before(what.days(clearing.settings.retention))
    wanted = [row for row in rows if row.workspace == clearing.workspace and row.type in what.types]
    wanted = await opened_rows(clearing.app.keys, wanted)
    held = [row for row in wanted if what.mark not in row.data and not row.is_sealed]
    going = await choose(conn, what, [row for row in held if row.time < before])
    met.gone, met.left = met.gone + len(going), met.left + len(held) - len(going)
    return {str(row.id): await emptied(clearing, clearing.app.keys, what, row) for row in going}


def _next(given: Iterator[str]) -> list[str]:
    return list(islice(given, BATCH))


def _mark(what: Emptying, clearing: Clearing) -> str:
    return f"{what.name}/{clearing.workspace}"
