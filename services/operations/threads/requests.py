"""What a person asks of a thread. Only threads of this workspace are asked anything."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

from schemas.events.answers import SnoozeRequested
from schemas.events.marks import ThreadMarksRequested
from schemas.events.threads import ThreadState, ThreadTransitionRequested
from services.core.app import App
from services.core.db import fetch_all, fetch_one
from services.core.errors import Permanent
from services.operations.requests import decision_on
from services.operations.threads.listing import SQL, ThreadUnknown
from services.operations.users import list_users
from services.operations.users.names import mentioned
from services.operations.users.teams import list_teams
from services.track_threads.states import EDGES

CONSUMER = "track_threads"
LONGEST_SNOOZE = timedelta(days=366)


class GoalUnknown(Permanent):
    """No such goal is open in the thread."""


class SnoozeRefused(Permanent):
    """The thread is not put off: it is done, or the moment is not one of the coming year."""


@dataclass(frozen=True, slots=True)
class Stepped:
    """What became of a request for a step; `refused` says why it was not made."""

    from_state: ThreadState
    to_state: ThreadState
    refused: str


def steps_from(state: ThreadState) -> Collection[ThreadState]:
    """The states that a thread in this one may be moved to."""
    return EDGES[state]


async def move(app: App, thread_id: UUID, to: ThreadState, reason: str, by: str, *, timeout_s: float) -> Stepped:
    """Ask for one step of the state machine. Raises `ThreadUnknown`, `NotDecidedYet`."""
    await _known(app, thread_id)
    command = ThreadTransitionRequested(thread_id=thread_id, to_state=to, trigger="human", reason=reason, by=by)
    cause = await decision_on(app, command, CONSUMER, timeout_s=timeout_s)
    args = {"workspace": app.settings.workspace, "thread_id": thread_id, "cause": cause}
    async with app.database.reading() as conn:
        row = await fetch_one(conn, SQL.step_of, args)
    assert row is not None
    return Stepped(**row)


async def mark(app: App, thread_id: UUID, *, timeout_s: float, **given: Any) -> None:
    """Ask for a priority, tags, goals or a note, which may name colleagues (`@grace`) and teams (`@billing`).

    Raises `ThreadUnknown`, `GoalUnknown`, `NotDecidedYet`.
    """
    await _known(app, thread_id)
    await _open_goals(app, thread_id, given.get("close_goals", ()))
    named = await _named(app, given["note"], given["by"]) if given.get("note") else ()
    command = ThreadMarksRequested.model_validate({"thread_id": thread_id, "mentions": named, **given})
    await decision_on(app, command, CONSUMER, timeout_s=timeout_s)


async def _named(app: App, note: str, by: str) -> tuple[str, ...]:
    people, teams = await list_users(app), await list_teams(app)
    return mentioned(note, [one.name for one in people], but=by, teams={one.name: one.members for one in teams})


async def snooze(app: App, asked: SnoozeRequested, *, timeout_s: float) -> None:
    """Put a thread off, or on the list again. Raises `ThreadUnknown`, `SnoozeRefused`, `NotDecidedYet`."""
    if asked.until and not app.now() < asked.until < app.now() + LONGEST_SNOOZE:
        raise SnoozeRefused(f"a thread is snoozed until a moment of the coming year, and {asked.until} is none")
    await _known(app, asked.thread_id)
    await decision_on(app, asked, CONSUMER, timeout_s=timeout_s)
    row = await _known(app, asked.thread_id)
    if row["snoozed_until"] != asked.until:
        raise SnoozeRefused(f"the thread is {row['state']}, or something happened in it: look at it again")


async def _known(app: App, thread_id: UUID) -> dict[str, Any]:
    """The thread's row. Raises `ThreadUnknown`."""
    async with app.database.reading() as conn:
        row = await fetch_one(conn, SQL.thread, {"workspace": app.settings.workspace, "thread_id": thread_id})
    if row is None:
        raise ThreadUnknown(f"there is no thread {thread_id}")
    return row


async def _open_goals(app: App, thread_id: UUID, named: Iterable[str]) -> None:
    async with app.database.reading() as conn:
        rows = await fetch_all(conn, SQL.goals, {"workspace": app.settings.workspace, "thread_id": thread_id})
    known = {name for row in rows if row["closed_at"] is None for name in (str(row["goal_id"]), row["text"].casefold())}
    for one in named:
        if one.casefold() not in known:
            raise GoalUnknown(f"no goal {one!r} is open in this thread")
