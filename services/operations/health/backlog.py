"""What waits in the deployment, counted, each with the command that shows it; and how fast customers were answered."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from schemas.topics import catalogue
from services.core.app import App
from services.core.bus.undone_events import low_mark, pairs_of
from services.core.db import fetch_all, fetch_one, queries
from services.operations import dead_letters
from services.operations.learning import unlearned

SQL = queries(__file__, "backlog.sql")
LINES = (
    ("unread", "mails not yet read", ""),
    ("unanswered", "mails waiting for an answer", "correspondent mails"),
    ("unlearned", "turns still to be learned from", ""),
    ("held", "drafts waiting for a person", "correspondent drafts"),
    ("escalated", "threads escalated to a person", "correspondent threads --state escalated"),
    ("missed", "deadlines missed and not yet met", "correspondent due"),
    ("unknown", "replies of which nobody knows whether they arrived", "correspondent deliveries --state unknown"),
    ("uncopied", "replies of the last 7 days without a copy in Sent", "correspondent deliveries --state sent"),
    ("letters", "dead letters", "correspondent dlq list"),
    ("unpublished", "events stored and not yet on the log", ""),
    ("refused", "stored events that the broker refuses", "correspondent outbox"),
    ("overdue", "timers overdue", ""),
)


@dataclass(frozen=True, slots=True)
class Waiting:
    """So many of something; `command` shows which, "" where none does."""

    name: str
    count: int
    words: str
    command: str


@dataclass(frozen=True, slots=True)
class Backlog:
    """`responses` is how the last 7 days went: replies, half and nine of ten within how many seconds, deadlines."""

    waiting: tuple[Waiting, ...]
    open_turns: list[dict[str, Any]]
    responses: dict[str, Any] | None


async def read_backlog(app: App, open_minutes: float = 10) -> Backlog:
    """Read it now; turns that are open for longer than so many minutes. Raises what a silent broker raises."""
    args = {"workspace": app.settings.workspace, "now": app.now(), "minutes": open_minutes}
    letters = await dead_letters.waiting(app)  # noted first: what is a dead letter waits in no other line
    async with app.database.reading() as conn:
        low = await low_mark(conn, pairs_of(catalogue().consumers()))
        counts = await fetch_one(conn, SQL.waiting, {**args, "low": low})
        turns = await fetch_all(conn, SQL.open_turns, args)
        responses = await fetch_one(conn, SQL.responses, args)
    assert counts is not None
    counted = {**counts, "letters": letters, "unlearned": (await unlearned(app)).count}
    return Backlog(tuple(Waiting(name, counted[name], *rest) for name, *rest in LINES), turns, responses)
