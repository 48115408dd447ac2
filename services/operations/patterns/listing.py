"""The patterns of approval: of which intent, what became of its drafts, and how far it is from needing no person."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from services.core.db import Connection, fetch_all, queries
from services.core.settings import ApprovalSettings
from services.core.settings.approval import UNEARNABLE
from services.core.wilson import still_needed, wilson

SQL = queries(__file__)


@dataclass(frozen=True, slots=True)
class Seen:
    """One kind of outcome: how often, when last, and the mean share of words that people changed."""

    occurrences: int
    last_seen: datetime
    edited: float


@dataclass(frozen=True, slots=True)
class Pattern:
    """An intent of an inbox.

    `unchanged` of the last `of` decisions approved a draft as it was; `bound` is the lower one of that share (Wilson,
    95 %). `needed` more in a row would open the intent, None where none can: it says too little, or is open by now.
    """

    inbox: str
    intent: str
    is_open: bool
    unchanged: int
    of: int
    bound: float
    needed: int | None
    changed_at: datetime | None
    changed_by: str
    reason: str
    seen: dict[str, Seen]


async def patterns(
    conn: Connection, workspace: str, settings: ApprovalSettings, *, inbox: str | None = None, intent: str | None = None
) -> list[Pattern]:
    """The patterns by inbox and intent, all or some; a few dozen at most."""
    args = {"workspace": workspace, "inbox": inbox, "intent": intent, "over": settings.over}
    return [_pattern(row, settings) for row in await fetch_all(conn, SQL.patterns, args)]


def _pattern(row: Mapping[str, Any], settings: ApprovalSettings) -> Pattern:
    decisions: list[bool] = row["decisions"]
    earnable = not row["is_open"] and row["intent"] not in UNEARNABLE
    told = {name: row[name] for name in ("inbox", "intent", "is_open", "changed_at", "changed_by", "reason")}
    return Pattern(
        **told,
        unchanged=sum(decisions),
        of=len(decisions),
        bound=round(wilson(sum(decisions), len(decisions)), 4),
        needed=still_needed(decisions, settings.over, settings.bound) if earnable else None,
        seen={kind: _seen(one) for kind, one in sorted(row["seen"].items())},
    )


def _seen(one: Mapping[str, Any]) -> Seen:
    last = datetime.fromisoformat(one["last_seen"])
    return Seen(int(one["occurrences"]), last, float(one["data"]["edited"]))
