"""What came of mail that we began, by inbox and rule."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from services.core.db import Connection, fetch_all, queries

SQL = queries(__file__)


@dataclass(frozen=True, slots=True)
class RuleLine:
    """A rule in an inbox. `waiting` are drafts; `not_sent` were rejected, overtaken, refused or could not be sent.

    `answered` are those of the `sent` that their reader answered in time, `unsubscribed` whose token came back.
    """

    inbox: str
    rule: str
    proposed: int
    waiting: int
    not_sent: int
    sent: int
    answered: int
    unsubscribed: int
    bounced: int
    last_at: datetime


async def outreach_by_rule(conn: Connection, workspace: str, since: datetime | None = None) -> list[RuleLine]:
    """The rules with what came of them, since a moment where one is given; one row an inbox and rule."""
    rows = await fetch_all(conn, SQL.by_rule, {"workspace": workspace, "since": since})
    return [RuleLine(**row) for row in rows]
