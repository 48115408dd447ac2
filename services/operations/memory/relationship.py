"""How a participant stands with us: lifecycle, mood, risk and issues, each with reason and cause; and moving them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from schemas.events.lifecycle import ParticipantStateRequested
from schemas.events.memory import SignalsNoted
from services.core.app import App
from services.core.db import Connection, fetch_all, fetch_one, queries
from services.core.keys import is_sealed
from services.operations.memory.people import Person
from services.operations.requests import decision_on

SQL = queries(__file__, "relationship.sql")
CONSUMER = "learn_facts"
LATEST_MOODS = 20


@dataclass(frozen=True, slots=True)
class LifecycleStep:
    """A step: who asked (`ai`, `human`, `system`), why, because of which event; `refused` says why it was not made."""

    version: int
    at: datetime
    from_state: str
    to_state: str
    trigger: str
    reason: str
    refused: str
    cause: UUID | None


@dataclass(frozen=True, slots=True)
class Issue:
    """A trouble that they reported, how often, and in which thread last."""

    issue_key: str
    reports: int
    resolved: bool
    thread_id: UUID
    first_at: datetime
    last_at: datetime


@dataclass(frozen=True, slots=True)
class Mood:
    """What one turn made of their mood: -1 furious to 1 delighted, and the risk that follows from it."""

    at: datetime
    sentiment: float
    frustrated_in_row: int
    risk: str
    intent: str
    issue_key: str
    thread_id: UUID
    cause: UUID | None


@dataclass(frozen=True, slots=True)
class Relationship:
    """Where somebody stands, and how they came there: steps oldest first, moods latest first."""

    state: str
    steps: tuple[LifecycleStep, ...]
    issues: tuple[Issue, ...]
    moods: tuple[Mood, ...]


async def relationship(conn: Connection, workspace: str, one: Person) -> Relationship:
    """All of it."""
    args = {"workspace": workspace, "participant_id": one.participant_id, "limit": LATEST_MOODS}
    moods = [row for row in await fetch_all(conn, SQL.moods, args) if not is_sealed(row["data"])]
    return Relationship(
        state=one.state,
        steps=tuple(LifecycleStep(**row) for row in await fetch_all(conn, SQL.steps, args)),
        issues=tuple(Issue(**row) for row in await fetch_all(conn, SQL.issues, args)),
        moods=tuple(_mood(row["at"], row["cause"], row["data"]) for row in moods),
    )


async def move(app: App, one: Person, to: str, reason: str, by: str, *, timeout_s: float = 20) -> LifecycleStep | None:
    """What became of a request for a step; None where they stand there already. Raises `NotDecidedYet`."""
    command = ParticipantStateRequested(participant_id=one.participant_id, to_state=to, by=by, reason=reason)
    cause = await decision_on(app, command, CONSUMER, timeout_s=timeout_s)
    args = {"workspace": app.settings.workspace, "participant_id": one.participant_id, "cause": cause}
    async with app.database.reading() as conn:
        row = await fetch_one(conn, SQL.step_of, args)
    return LifecycleStep(**row) if row else None


def _mood(at: datetime, cause: UUID | None, data: dict[str, Any]) -> Mood:
    told = SignalsNoted.model_validate(data).model_dump(
        include={"sentiment", "frustrated_in_row", "risk", "intent", "issue_key", "thread_id"}
    )
    return Mood(at=at, cause=cause, **told)
