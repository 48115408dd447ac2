"""The steps of a case: what each processor handled then, what it recorded because of it, and what it could see.

A handler that asks no model reads and records at once, so it could see all that was stored before what it recorded; but
what was stored after its own event may have been committed too late for it. One that recorded nothing, such as a reply
that another mail had overtaken, could see what was stored until it was done.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC
from uuid import UUID

from schemas.events.threads import TimerElapsed
from services.core.bus.event_row import EventRow
from services.core.db import Connection, fetch_all, fetch_one, queries, rows_as
from services.keep_time.keeper import KEEP_TIME
from services.operations.replay.selection import STARTS

SQL = queries(__file__)

ASKS_MODEL = frozenset({"generate_reply", "reflect"})


@dataclass(frozen=True, slots=True)
class Step:
    """One event that was handled; its handler saw the log up to `sure`, and could see it up to `upto`."""

    event: EventRow
    recorded: tuple[EventRow, ...]
    sure: int
    upto: int
    is_timer: bool = False


async def keys_concerned(
    conn: Connection, thread: UUID | str | None, participant: UUID | None, incidents: Iterable[str] = ()
) -> tuple[str, ...]:
    """The keys of a thread, of who takes part in it, of a person, and of those who reported some incidents."""
    args = {"thread": thread, "participant": participant, "incidents": list(incidents)}
    return tuple(row["key"] for row in await fetch_all(conn, SQL.keys, args) if row["key"])


async def past_steps(conn: Connection, start: EventRow, processors: tuple[str, ...]) -> list[Step]:
    """The steps of processors that follow each other, from an event that the first of them handles.

    Between two of them, timers that the first one had set have come: they are handed to it as they came then.
    """
    waiting, steps = [start], []
    for name in processors:
        handles = {event.TYPE for event in STARTS[name]}
        goes_on = name != processors[-1] and TimerElapsed.TYPE in handles
        timers = await _caused(conn, waiting, KEEP_TIME) if goes_on else []
        mine = [await _step(conn, one, name) for one in waiting if one.type in handles]
        mine += [await _step(conn, one, name, is_timer=True) for one in timers]
        waiting = [one for step in mine for one in step.recorded]
        steps += mine
    return steps


async def _step(conn: Connection, event: EventRow, processor: str, *, is_timer: bool = False) -> Step:
    recorded = [one for one in await _caused(conn, [event], processor) if not one.is_sealed]
    sure = await _stored_with(conn, event)
    upto = await _could_see(conn, event, processor, recorded, sure)
    return Step(event, tuple(recorded), min(sure, upto), upto, is_timer)


async def _could_see(conn: Connection, event: EventRow, processor: str, recorded: list[EventRow], sure: int) -> int:
    if recorded:
        return sure if processor in ASKS_MODEL else recorded[0].seq - 1
    asked = {
        "consumer": processor,
        "event_id": event.id,
        "event_day": event.time.astimezone(UTC).date(),
        "sure": sure,
    }
    found = await fetch_one(conn, SQL.stored_meanwhile, asked)
    return int(found["seq"]) if found else sure


async def _caused(conn: Connection, causes: list[EventRow], source: str) -> list[EventRow]:
    args = {"causes": [one.id for one in causes], "source": source}
    return await rows_as(conn, EventRow.of, SQL.caused, args)


async def _stored_with(conn: Connection, event: EventRow) -> int:
    """The last place in the log that was stored in one transaction with the event."""
    about = {name: getattr(event, name) for name in ("id", "causation_id", "source", "time")}
    found = await fetch_one(conn, SQL.stored_with, about)
    assert found is not None
    return int(found["seq"])
