"""What happened because of each mail or request of a thread: its events in their order, and how long each took."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from services.core.db import Connection, queries, rows_as

SQL = queries(__file__, "course.sql")
MOST_EVENTS = 400


@dataclass(frozen=True, slots=True)
class Hop:
    """An event: its type, who emitted it, and when it was stored, which is what durations are measured by."""

    correlation_id: UUID
    seq: int
    type: str
    source: str
    time: datetime
    stored_at: datetime


@dataclass(frozen=True, slots=True)
class Course:
    """All that followed from one mail or request, in order."""

    hops: tuple[Hop, ...]

    @property
    def began(self) -> datetime:
        """When its first event happened."""
        return self.hops[0].time

    @property
    def steps(self) -> list[tuple[Hop, int, int]]:
        """Each event with the milliseconds since the first one and since the one before it."""
        first, before = self.hops[0].stored_at, (self.hops[0], *self.hops)
        return [
            (one, _ms(first, one.stored_at), _ms(earlier.stored_at, one.stored_at))
            for earlier, one in zip(before, self.hops, strict=False)
        ]


async def courses(conn: Connection, workspace: str, thread_id: UUID) -> list[Course]:
    """Of the newest events of a thread, the latest mail or request first. What is archived is not read."""
    args = {"workspace": workspace, "thread_id": thread_id, "limit": MOST_EVENTS}
    rows = await rows_as(conn, Hop, SQL.hops, args)
    return [Course(tuple(hops)) for hops in reversed(_grouped(rows[::-1]))]


def _grouped(hops: Sequence[Hop]) -> list[list[Hop]]:
    """By correlation, in the order in which each began."""
    found: dict[UUID, list[Hop]] = {}
    for one in hops:
        found.setdefault(one.correlation_id, []).append(one)
    return list(found.values())


def _ms(since: datetime, until: datetime) -> int:
    return max(0, round((until - since).total_seconds() * 1000))
