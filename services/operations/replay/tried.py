"""A case that was played for somebody to look at: what it began with, and what differs."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Self
from uuid import UUID

from services.operations.replay.case import Case
from services.operations.replay.difference import Difference
from services.operations.replay.result import SAME, Result


@dataclass(frozen=True, slots=True)
class TriedCase:
    """`event` is the type of the event that `event_id` names; `error` is what kept it from being played."""

    event_id: UUID
    event: str
    at: datetime
    thread_id: UUID | None
    processors: tuple[str, ...]
    same: bool
    differences: tuple[Difference, ...]
    error: str

    @classmethod
    def of(cls, case: Case, result: Result) -> Self:
        """A case with its result."""
        of_thread = (one.data["thread_id"] for one in (case.start, *case.expected) if one.data.get("thread_id"))
        thread = next(of_thread, None)
        return cls(
            event_id=case.start.id,
            event=case.start.type,
            at=case.start.time,
            thread_id=UUID(thread) if thread else None,
            processors=case.processors,
            same=result.code == SAME,
            differences=result.differences,
            error=result.error,
        )
