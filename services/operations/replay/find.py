"""From what an operator names (an event, a thread, a person, a time) to the cases that are replayed."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from itertools import pairwise
from typing import Any
from uuid import UUID

from schemas.events.mail import MailReceived
from schemas.events.replies import MemoryLoaded
from services.core.archive.history import Part, readable, stored_events
from services.core.bus.envelope import Envelope
from services.core.bus.event_row import EventRow
from services.core.db import Connection, fetch_all, fetch_one, row_as
from services.core.errors import Permanent
from services.load_memory.layers.incidents import NAME as INCIDENTS
from services.operations.replay.case import Case, Checkpoint, Meanwhile, StoredEvent, Unsure
from services.operations.replay.selection import Selection
from services.operations.replay.steps import SQL, Step, keys_concerned, past_steps
from services.operations.retention.expired_events import gone_since


class NoSuchEvent(Permanent):
    """There is no event with this id."""


async def find_starts(conn: Connection, workspace: str, wanted: Selection) -> list[UUID]:
    """The ids of the events to begin with, oldest first. Raises `NoSuchEvent`.

    An event that the processor does not handle stands for those of the same correlation that it does.
    """
    types = wanted.types
    args: dict[str, Any] = {"workspace": workspace, "types": types, "event": None, "correlation": None}
    if wanted.event:
        named = await row_as(conn, EventRow.of, SQL.event, {"id": wanted.event})
        if named is None:
            raise NoSuchEvent(f"there is no event {wanted.event}")
        if named.type in types:
            args["event"] = named.id
        else:
            args["correlation"] = named.correlation_id
    args |= {"thread": str(wanted.thread) if wanted.thread else None, "participant": wanted.participant}
    args |= {"since": wanted.since, "until": wanted.before}
    return [row["id"] for row in await fetch_all(conn, SQL.starts, args)]


async def find_cases(
    conn: Connection, starts: list[UUID], processors: tuple[str, ...], *, documents: bool
) -> AsyncIterator[Case]:
    """The cases of some events, with the knowledge base as it stood where `documents` is set.

    What can no longer be read, because somebody was erased, is no case, and no part of one.
    """
    for id in starts:
        row = await row_as(conn, EventRow.of, SQL.event, {"id": id})
        if row is not None and not row.is_sealed:
            yield await _case(conn, row, processors, documents)


async def _case(conn: Connection, row: EventRow, processors: tuple[str, ...], documents: bool) -> Case:
    start = row.envelope()
    steps = await past_steps(conn, row, processors)
    expected = [one.envelope() for step in steps for one in step.recorded]
    part = Part(keys=await _keys(conn, [start, *expected]), documents=documents, upto=steps[0].upto)
    own = [one.id for one in expected]
    asked = {"consumers": list(processors), "events": [start.id, *own]}
    return Case(
        name=f"{processors[-1]}-{start.time:%Y%m%d-%H%M%S}-{start.id}",
        processors=processors,
        start=StoredEvent.of(start),
        history=tuple([StoredEvent.of(one) async for one in readable(stored_events(conn, part))]),
        answers=tuple(Checkpoint(**one) for one in await fetch_all(conn, SQL.answers, asked)),
        expected=tuple(StoredEvent.of(one) for one in expected),
        timers=tuple(StoredEvent.of(one.event.envelope()) for one in steps if one.is_timer),
        meanwhile=tuple([one async for one in _meanwhile(conn, steps, own, part)]),
        unsure=tuple([one async for one in _unsure(conn, steps, own, part)]),
        gone=await what_is_gone(conn, row, steps),
    )


async def case_of_now(
    conn: Connection, row: EventRow, processor: str, keys: tuple[str, ...], *, documents: bool
) -> Case:
    """An event that a processor has not handled, and all that was recorded by now under some keys."""
    start, part = row.envelope(), Part(keys=keys, documents=documents)
    asked = {"consumers": [processor], "events": [start.id]}
    return Case(
        name=f"{processor}-{start.time:%Y%m%d-%H%M%S}-{start.id}",
        processors=(processor,),
        start=StoredEvent.of(start),
        history=tuple([StoredEvent.of(one) async for one in readable(stored_events(conn, part))]),
        answers=tuple(Checkpoint(**one) for one in await fetch_all(conn, SQL.answers, asked)),
        expected=(),
        gone=await what_is_gone(conn, row, []),
    )


async def _meanwhile(conn: Connection, steps: list[Step], own: list[UUID], part: Part) -> AsyncIterator[Meanwhile]:
    """What was recorded between one step and the next and is not the case's own, such as another mail's turn."""
    for before, step in pairwise(steps):
        between = replace(part, after=before.upto, upto=step.upto)
        others = [one async for one in readable(stored_events(conn, between)) if one.id not in own]
        if others:
            yield Meanwhile(before=step.event.id, events=tuple(StoredEvent.of(one) for one in others))


async def _unsure(conn: Connection, steps: list[Step], own: list[UUID], part: Part) -> AsyncIterator[Unsure]:
    """What was recorded while a step was running, so that it may have come too late for it."""
    for place, step in enumerate(steps, start=1):
        args = {"sure": step.sure, "upto": step.upto, "keys": list(part.keys or ()), "own": own}
        for row in await fetch_all(conn, SQL.unsure, args):
            seen_by = next((one.event.id for one in steps[place:] if one.sure >= row["seq"]), None)
            yield Unsure(event=row["id"], seen_by=seen_by)


async def _keys(conn: Connection, events: list[Envelope]) -> tuple[str, ...]:
    """The keys of the thread and the people that the events are about, and of the incidents that were told of.

    What was told of an incident is made of others' reports: their threads are part of the case, too.
    """
    thread = next(filter(None, (getattr(one.data, "thread_id", None) for one in events)), None)
    participant = next(filter(None, (one.data.subject_id() for one in events)), None)
    return await keys_concerned(conn, thread, participant, [id for event in events for id in _incidents_told(event)])


def _incidents_told(event: Envelope) -> list[str]:
    """The incidents of which a context tells."""
    layers = event.data.layers if isinstance(event.data, MemoryLoaded) else ()
    return [item["incident"] for layer in layers if layer.name == INCIDENTS for item in layer.items]


# What keeps a case from being replayed for good: retention has taken what it was made of.
SETTING = "retention.{}_days"


async def what_is_gone(conn: Connection, start: EventRow, steps: list[Step]) -> str:
    """In words, or empty where everything is there."""
    if start.type == MailReceived.TYPE:
        row = await fetch_one(conn, SQL.removed_blob, {"owner": UUID(start.data["mail_id"])})
        if row is not None:
            return f"the raw mail is kept no longer, since {row['removed_at']:%Y-%m-%d} ({SETTING.format('blobs')})"
    return next(_emptied([start, *(one for step in steps for one in step.recorded)]), "")


def _emptied(rows: list[EventRow]) -> Iterator[str]:
    for row in rows:
        for name, day in gone_since(row.data).items():
            what = "texts" if name == "bodies" else "facts"
            yield f"the {what} in {row.type} {row.id} are kept no longer, since {day} ({SETTING.format(name)})"
