"""Reads a thread from its tables, under its lock."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any
from uuid import UUID

from services.core.bus.unit import Unit
from services.track_threads.apply import SQL
from services.track_threads.thread import Deadline, Goal, OpenTurn, Pending, Thread

STATE = (SQL.thread, SQL.pending, SQL.open_goals, SQL.deadlines, SQL.arriving)


async def load(
    unit: Unit, thread_id: UUID, participant_id: UUID | None = None, inbox: str = "", arriving: UUID | None = None
) -> Thread:
    """The thread, held until the end of the transaction, and the mail that is about to be attached to it."""
    found = await unit.read_locked("thread", thread_id, STATE, thread_id=thread_id, mail_id=arriving)
    rows, pending, goals, deadlines, mails = found
    mail = Pending(**mails[0]) if mails else None
    if not rows:
        return Thread(thread_id=thread_id, participant_id=participant_id, inbox=inbox, arriving=mail)
    (row,) = rows
    return Thread(
        thread_id=thread_id,
        participant_id=row["participant_id"],
        inbox=row["inbox"],
        exists=True,
        state=row["state"],
        turn=_turn(row) if row["open_turn"] else None,
        pending=tuple(Pending(**one) for one in pending),
        goals=tuple(Goal(**one) for one in goals),
        priority=row["priority"],
        tags=frozenset(row["tags"]),
        answered=row["answered"],
        by_hand=row["by_hand"],
        deadlines=tuple(_deadline(one) for one in deadlines),
        arriving=mail,
    )


async def dated(unit: Unit, thread: Thread) -> Thread:
    """The thread with when it was opened last, which takes a look through all of it."""
    row = await unit.one(SQL.began, thread_id=thread.thread_id)
    return replace(thread, began_at=row["at"] if row else None)


def _turn(row: dict[str, Any]) -> OpenTurn:
    return OpenTurn(
        turn_id=row["open_turn"],
        mail_ids=tuple(row["turn_mails"]),
        trusted=row["turn_trusted"],
        leaving=row["leaving"],
        participant_id=row["turn_participant_id"],
    )


def _deadline(row: dict[str, Any]) -> Deadline:
    allowed_s, left_s = row.pop("allowed_s"), row.pop("left_s")
    left = None if left_s is None else timedelta(seconds=left_s)
    return Deadline(**row, allowed=timedelta(seconds=allowed_s), left=left)
