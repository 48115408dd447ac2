"""Turns that failed: no dead letter, since people are alerted instead; found here, and opened again.

A thread is listed while its newest turn is the one that failed. Its owner is asked for a new turn, and may refuse.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from services.core.app import App
from services.core.db import fetch_all, queries
from services.operations.dead_letters import Choice
from services.operations.requests import WAIT_S
from services.operations.threads import requests

SQL = queries(__file__, "failed_turns.sql")


@dataclass(frozen=True, slots=True)
class FailedTurn:
    """A turn on which a processor gave up, and how its thread stands now."""

    thread_id: UUID
    turn_id: UUID
    failed_at: datetime
    error: str
    state: str
    subject: str


async def failed_turns(app: App, choice: Choice) -> list[FailedTurn]:
    """Those that are meant, oldest first; a turn has no group."""
    args = {
        "workspace": app.settings.workspace,
        "thread": choice.thread or None,
        "error": choice.error,
        "since": choice.since,
        "until": choice.until,
    }
    async with app.database.reading() as conn:
        return [FailedTurn(**row) for row in await fetch_all(conn, SQL.failed_turns, args)]


async def reopen(app: App, turn: FailedTurn, by: str) -> str:
    """Ask that the thread goes on, which opens a new turn; why that was refused, or ""."""
    reason = f"the failed turn is tried again: {turn.error}"[:300]
    made = await requests.move(app, turn.thread_id, "in_progress", reason, by, timeout_s=WAIT_S)
    return made.refused or ""
