"""A case: one event of the past, the history before it, what was answered then, and what came of it.

It holds all that a replay needs, so a saved case can be replayed in an empty deployment, years later.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, Self
from uuid import UUID

from pydantic import BaseModel, ConfigDict, ValidationError

from schemas import events as kinds  # whose classes are made when somebody asks for one
from services.core.bus.envelope import Envelope
from services.core.errors import Permanent


class CaseUnreadable(Permanent):
    """The file is no saved case that this version of the code can read."""


class _Saved(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", ser_json_bytes="base64", val_json_bytes="base64")


class StoredEvent(_Saved):
    """An event as the table `events` holds it, without what belongs to its storing."""

    id: UUID
    source: str
    time: datetime
    workspace: str
    type: str
    version: int | None
    correlation_id: UUID
    causation_id: UUID | None
    data: dict[str, Any]

    @classmethod
    def of(cls, envelope: Envelope) -> Self:
        """The event of an envelope."""
        return cls(
            id=envelope.id,
            source=envelope.source,
            time=envelope.time,
            workspace=envelope.workspace,
            type=envelope.type,
            version=envelope.version,
            correlation_id=envelope.correlation_id,
            causation_id=envelope.causation_id,
            data=envelope.data.model_dump(mode="json"),
        )

    def envelope(self) -> Envelope:
        """Its envelope. Raises KeyError or ValidationError for an event that this code does not know."""
        return Envelope(
            id=self.id,
            source=self.source,
            time=self.time,
            workspace=self.workspace,
            data=kinds.EVENTS[self.type].model_validate(self.data),
            correlation_id=self.correlation_id,
            causation_id=self.causation_id,
            version=self.version,
        )


class Checkpoint(_Saved):
    """What a model or a tool answered, under (consumer, event id, step)."""

    consumer: str
    event_id: UUID
    step: str
    answer: dict[str, Any]


class Meanwhile(_Saved):
    """What other processors had recorded by the time that an event of the case was handled."""

    before: UUID
    events: tuple[StoredEvent, ...]


class Unsure(_Saved):
    """An event that was recorded while a step was running.

    The handler of the event `seen_by`, if any, is the first that surely saw it.
    """

    event: UUID
    seen_by: UUID | None


class Case(_Saved):
    """`processors` handle `start`, one after the other; `expected` is what they recorded then, in order.

    `timers` came while they did, and `meanwhile` is what others did then. What is `unsure` may have come too late
    for the step that it stands before. `blobs` are what the handlers read, such as the raw mail, once it was played.
    `gone` says in words what retention has taken of it, so that it cannot be played.
    """

    name: str
    processors: tuple[str, ...]
    start: StoredEvent
    history: tuple[StoredEvent, ...]
    answers: tuple[Checkpoint, ...]
    expected: tuple[StoredEvent, ...]
    timers: tuple[StoredEvent, ...] = ()
    meanwhile: tuple[Meanwhile, ...] = ()
    unsure: tuple[Unsure, ...] = ()
    blobs: Mapping[str, bytes] = {}
    gone: str = ""


def seen_late(case: Case) -> Case:
    """The case in which every event of `unsure` came too late for the step that it stands before."""
    late = {one.event: one.seen_by for one in case.unsure}
    moved: dict[UUID | None, list[StoredEvent]] = defaultdict(list)
    for event in (*case.history, *(event for one in case.meanwhile for event in one.events)):
        if event.id in late:
            moved[late[event.id]].append(event)
    before = {one.before: [event for event in one.events if event.id not in late] for one in case.meanwhile}
    for seen_by, events in moved.items():
        if seen_by is not None:
            before[seen_by] = events + before.get(seen_by, [])
    return case.model_copy(
        update={
            "history": tuple(event for event in case.history if event.id not in late),
            "meanwhile": tuple(Meanwhile(before=step, events=tuple(events)) for step, events in before.items()),
        }
    )


def save(case: Case, folder: Path) -> Path:
    """Write the case to `folder`, as JSON; the file."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{case.name}.json"
    path.write_text(case.model_dump_json(indent=1), encoding="utf-8")
    return path


def load(path: Path) -> Case:
    """The case in a file. Raises `CaseUnreadable`."""
    try:
        return read_case(path.read_bytes(), str(path))
    except OSError as error:
        raise CaseUnreadable(f"{path} cannot be read as a case: {error}") from error


def read_case(content: bytes, name: str) -> Case:
    """A saved case, which was called so. Raises `CaseUnreadable`."""
    try:
        case = Case.model_validate_json(content)
        beside = [event for one in case.meanwhile for event in one.events]
        for event in (case.start, *case.history, *case.expected, *case.timers, *beside):
            event.envelope()
    except (ValidationError, KeyError) as error:
        raise CaseUnreadable(f"{name} cannot be read as a case: {error}") from error
    return case
