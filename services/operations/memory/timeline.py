"""What came to pass with a person, over months: facts, mails, replies, periods, outreach, incidents, standing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from itertools import groupby
from typing import Literal
from uuid import UUID

from schemas.model_output import Grain
from services.core.app import App
from services.core.db import Connection, queries, rows_as
from services.core.paging import Listing, Page
from services.memory.grains import kept_since

SQL = queries(__file__, "timeline.sql")
MOMENTS = Listing("moments", (("at", "time"), ("what", "text"), ("id", "id")), descending=True)
TOLD: tuple[Grain, ...] = ("monthly", "quarterly", "yearly")  # finer ones repeat what stands beside them

What = Literal["fact_began", "fact_ended", "mail", "reply", "period", "outreach", "incident", "standing"]


@dataclass(frozen=True, slots=True)
class Moment:
    """One thing that came to pass.

    `text` is the fact, the subject, what was told of a period, the rule of outreach, the trouble that was reported, or
    the state of the customer; `more` the fact's key, the period, what came of the outreach, the incident, the reason.
    """

    at: datetime
    what: What
    id: UUID
    thread_id: UUID | None
    text: str
    more: str


async def timeline(conn: Connection, app: App, participant_id: UUID, *, limit: int, after: str = "") -> Page[Moment]:
    """A person's moments, the newest first. Raises `BadCursor`."""
    args = {
        "workspace": app.settings.workspace,
        "participant_id": participant_id,
        "now": app.now(),
        "grains": list(TOLD),
        "since": [kept_since(one, app.now(), app.settings.retention.periods) for one in TOLD],
        **MOMENTS.args(after, limit),
    }
    return MOMENTS.page(await rows_as(conn, Moment, SQL.moments, args), limit)


def by_month(moments: Sequence[Moment]) -> list[tuple[date, list[Moment]]]:
    """Moments in their order, under the first day of their months, UTC."""
    return [(month, list(some)) for month, some in groupby(moments, _month)]


def _month(one: Moment) -> date:
    return one.at.astimezone(UTC).date().replace(day=1)
