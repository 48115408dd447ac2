"""From what an operator names (an event, a thread, a person, a time) to the cases that are replayed."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from types import MappingProxyType
from typing import Any
from uuid import UUID

from schemas.events.base import EventData
from schemas.events.mail import EmailRead
from schemas.events.memory import TurnReflected
from schemas.events.replies import MemoryLoaded, ReplyDrafted
from schemas.events.threads import TurnClosed, TurnOpened
from services.core.bus import history
from services.core.bus.envelope import Envelope
from services.core.db import Connection, fetch_all, fetch_one, queries
from services.core.errors import Permanent
from services.tools.fold import Part, stored_events
from services.tools.replay.case import Case, Checkpoint, StoredEvent

SQL = queries(__file__)

STARTS: Mapping[str, tuple[type[EventData], ...]] = MappingProxyType(
    {
        "load_memory": (TurnOpened,),
        "generate_reply": (MemoryLoaded,),
        "reflect": (TurnClosed,),
        "learn_facts": (EmailRead, ReplyDrafted, TurnReflected),
        "summarize_threads": (TurnReflected,),
    }
)
ASKS_MODEL = frozenset({"generate_reply", "reflect"})


class NotReplayable(Permanent):
    """The processor cannot be replayed."""


class NoSuchEvent(Permanent):
    """There is no event with this id."""


@dataclass(frozen=True, slots=True)
class Selection:
    """Which of the past is replayed; None filters nothing. `since` <= event time < `before`."""

    until: str = "generate_reply"
    rebuild_context: bool = False
    event: UUID | None = None
    thread: UUID | None = None
    participant: UUID | None = None
    since: datetime | None = None
    before: datetime | None = None

    @property
    def processors(self) -> tuple[str, ...]:
        """The processors that handle, in order. Raises `NotReplayable`, with the reason."""
        if self.until == "send_email":
            raise NotReplayable("send_email refuses replays: a replay sends no mail")
        if self.until not in STARTS:
            raise NotReplayable(f"{self.until!r} cannot be replayed; there are: {', '.join(STARTS)}")
        if self.rebuild_context and self.until == "generate_reply":
            return ("load_memory", "generate_reply")
        return (self.until,)


async def find_starts(conn: Connection, workspace: str, wanted: Selection) -> list[UUID]:
    """The ids of the events to begin with, oldest first. Raises `NoSuchEvent`.

    An event that the processor does not handle stands for those of the same correlation that it does.
    """
    types = [event.TYPE for event in STARTS[wanted.processors[0]]]
    args: dict[str, Any] = {"workspace": workspace, "types": types, "event": None, "correlation": None}
    if wanted.event:
        named = await fetch_one(conn, SQL.event, {"id": wanted.event})
        if named is None:
            raise NoSuchEvent(f"there is no event {wanted.event}")
        if named["type"] in types:
            args["event"] = named["id"]
        else:
            args["correlation"] = named["correlation_id"]
    args |= {"thread": str(wanted.thread) if wanted.thread else None, "participant": wanted.participant}
    args |= {"since": wanted.since, "until": wanted.before}
    return [row["id"] for row in await fetch_all(conn, SQL.starts, args)]


async def find_cases(
    conn: Connection, starts: list[UUID], processors: tuple[str, ...], *, documents: bool
) -> AsyncIterator[Case]:
    """The cases of some events, with the knowledge base as it stood where `documents` is set."""
    for id in starts:
        row = await fetch_one(conn, SQL.event, {"id": id})
        assert row is not None
        yield await _case(conn, row, processors, documents)


async def _case(conn: Connection, row: dict[str, Any], processors: tuple[str, ...], documents: bool) -> Case:
    start = history.envelope(row)
    expected: list[dict[str, Any]] = []
    causes = [start.id]
    for name in processors:
        rows = await fetch_all(conn, SQL.caused, {"causes": causes, "source": name})
        expected += rows
        causes = [one["id"] for one in rows]
    upto = await _upto(conn, row, processors[0], expected)
    part = Part(keys=await _keys(conn, start), documents=documents, upto=upto)
    asked = {"consumers": list(processors), "events": [start.id, *(one["id"] for one in expected)]}
    return Case(
        name=f"{processors[-1]}-{start.time:%Y%m%d-%H%M%S}-{start.id}",
        processors=processors,
        start=StoredEvent.of(start),
        history=tuple([StoredEvent.of(one) async for one in stored_events(conn, part)]),
        answers=tuple(Checkpoint(**one) for one in await fetch_all(conn, SQL.answers, asked)),
        expected=tuple(StoredEvent.of(history.envelope(one)) for one in expected),
    )


async def _upto(conn: Connection, row: dict[str, Any], processor: str, expected: list[dict[str, Any]]) -> int:
    """The last place in the log that the handler could see: all that its event was stored with; and, where it read
    and recorded at once, all before its own first event.
    """
    if expected and processor not in ASKS_MODEL:
        return int(expected[0]["seq"]) - 1
    found = await fetch_one(
        conn, SQL.stored_with, {name: row[name] for name in ("id", "causation_id", "source", "time")}
    )
    assert found is not None
    return int(found["seq"])


async def _keys(conn: Connection, start: Envelope) -> tuple[str, ...]:
    thread = getattr(start.data, "thread_id", None)
    args = {"thread": thread, "participant": start.data.subject_id()}
    return tuple(row["key"] for row in await fetch_all(conn, SQL.keys, args) if row["key"])
