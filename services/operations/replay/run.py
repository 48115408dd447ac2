"""Replays cases, one after the other, in one sandbox."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from pathlib import Path

from schemas.events.mail import MailReceived
from services.core.app import open_keys
from services.core.archive.archive import Archive, archive_of
from services.core.archive.history import manifests
from services.core.bus.event_row import EventRow
from services.core.db import Connection, row_as
from services.core.settings import Settings
from services.operations.archive import thaw
from services.operations.rebuild.shadow_schema import connected
from services.operations.replay.case import Case, load, seen_late
from services.operations.replay.find import find_cases, find_starts
from services.operations.replay.model import Asking
from services.operations.replay.play import play
from services.operations.replay.result import SAME, Result, agreed, judge
from services.operations.replay.sandbox import Sandbox, open_sandbox
from services.operations.replay.selection import Selection
from services.operations.replay.steps import SQL, keys_concerned


async def past_cases(
    settings: Settings, wanted: Selection, *, documents: bool
) -> AsyncGenerator[tuple[Case, int], None]:
    """The cases of a deployment's past, oldest first, each with how many there are in all.

    `documents` takes the knowledge base along, for a model that may search it; loading memory always has it.
    """
    documents = documents or "load_memory" in wanted.processors
    async with open_keys(settings) as keys, connected(settings.database_url, keys) as conn:
        await see_archived(conn, archive_of(settings), settings.workspace, wanted)
        starts = await find_starts(conn, settings.workspace, wanted)
        async for case in find_cases(conn, starts, wanted.processors, documents=documents):
            yield case, len(starts)


async def saved_cases(files: Sequence[Path]) -> AsyncIterator[tuple[Case, int]]:
    """The cases in files, each with how many there are in all. Raises `CaseUnreadable`."""
    for file in files:
        yield load(file), len(files)


async def replay(
    settings: Settings, cases: AsyncIterator[tuple[Case, int]], asking: Asking
) -> AsyncGenerator[tuple[Case, Result, int], None]:
    """Each case, whole, with its result and how many there are in all. Nothing outside the sandbox is written."""
    async with open_sandbox(settings, asking) as sandbox:
        async for case, total in cases:
            result, blobs = await _judged(sandbox, case)
            yield case.model_copy(update={"blobs": {**case.blobs, **blobs}}), result, total


async def _judged(sandbox: Sandbox, case: Case) -> tuple[Result, Mapping[str, bytes]]:
    """The result, and the blobs that were read for it.

    What differs only with what nobody knows to have been seen then is no difference.
    """
    result = judge(case, await play(sandbox, case))
    blobs = sandbox.blobs.taken
    if result.code == SAME or not case.unsure:
        return result, blobs
    again = judge(case, await play(sandbox, seen_late(case)))
    return agreed(result, again), {**blobs, **sandbox.blobs.taken}


# Archived events that a replay needs: of the thread or person that is asked for, else all.


async def see_archived(conn: Connection, archive: Archive, workspace: str, wanted: Selection) -> None:
    """Let the session see the archived events that the cases of a selection may need."""
    said = await manifests(conn)
    if not said:
        return
    keys = await _keys(conn, wanted)

    def needed(row: EventRow) -> bool:
        mine = row.key in keys or row.aggregate == "document" or row.type == MailReceived.TYPE
        return row.workspace == workspace and (mine or not keys)

    await thaw(conn, archive, said, needed)


async def _keys(conn: Connection, wanted: Selection) -> frozenset[str]:
    """The keys of what the cases are about; none where that cannot be said beforehand."""
    thread = str(wanted.thread) if wanted.thread else None
    participant = wanted.participant
    if wanted.event and not thread:
        event = await row_as(conn, EventRow.of, SQL.event, {"id": wanted.event})
        thread = event.data.get("thread_id") if event else None
    if not (thread or participant):
        return frozenset()
    return frozenset(await keys_concerned(conn, thread, participant))
