"""Events put on a topic by hand: all of a file are checked before the first is stored; then they go the usual way."""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import datetime
from typing import Any
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from schemas import events as kinds
from services.core.app import App
from services.core.bus.envelope import Envelope, first
from services.core.clock import random_id
from services.core.error_words import named
from services.core.errors import Permanent


class FileRefused(Permanent):
    """The file holds something that is no event of the topic; nothing of it was sent."""


class Line(BaseModel):
    """One event of a file that is to be produced."""

    model_config = ConfigDict(extra="forbid")

    type: str
    data: dict[str, Any]
    id: UUID = Field(default_factory=random_id)
    time: datetime | None = None


def check_events(text: str, topic: str, *, now: datetime, workspace: str) -> list[Envelope]:
    """The events of a file: JSON lines, a JSON array or one object. Raises `FileRefused` with every fault in it."""
    events, faults = [], []
    for place, raw in _entries(text):
        try:
            events.append(_checked(raw, topic, now, workspace))
        except ValidationError as error:
            found = (named(one) for one in error.errors())
            faults += [f"{place}: {name or 'it'}: {said}" for name, said in found]
        except ValueError as error:
            faults.append(f"{place}: {error}")
    if faults or not events:
        raise FileRefused("nothing was sent.\n  " + "\n  ".join(faults[:20] or ["there is no event in the file"]))
    return events


async def produce(app: App, events: Iterable[Envelope]) -> None:
    """Store the events and put them on their topic, in order."""
    for event in events:
        from services.core.bus.runner import enter

        await enter(app, event)


def _entries(text: str) -> list[tuple[str, Any]]:
    try:
        whole = json.loads(text)
    except (ValueError, RecursionError):
        lines = [(n, line) for n, line in enumerate(text.splitlines(), 1) if line.strip()]
        return [(f"line {n}", line) for n, line in lines]
    return [(f"event {n}", one) for n, one in enumerate(whole if isinstance(whole, list) else [whole], 1)]


def _checked(raw: Any, topic: str, now: datetime, workspace: str) -> Envelope:
    line = Line.model_validate_json(raw) if isinstance(raw, str) else Line.model_validate(raw)
    event = kinds.EVENTS.get(line.type)
    if event is None or topic != event.TOPIC:
        fitting = [name for name, one in kinds.EVENTS.items() if topic == one.TOPIC and not one.AGGREGATE]
        raise ValueError(f"{line.type[:60]!r} is no event of {topic}; there are: {', '.join(fitting) or 'none'}")
    if event.AGGREGATE:
        raise ValueError(
            f"{line.type} is decided by a processor, which gives it the next version of its {event.AGGREGATE}: "
            "ask for it with a request instead (docs/how-to/topics.md)"
        )
    time = line.time or now
    if time.tzinfo is None:
        raise ValueError("time: it needs an offset, such as 2026-01-31T09:00:00+00:00")
    data = event.model_validate_json(json.dumps(line.data))
    return first(data, id=line.id, source="console", time=time, workspace=workspace)
