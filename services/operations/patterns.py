"""What people make of drafts by inbox and intent, which intents need no person any more; opening and closing one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, get_args

from schemas.events.approvals import ApprovalRequested
from schemas.model_output import Intent
from services.core.app import App
from services.core.db import Connection, fetch_all, queries
from services.core.errors import Permanent
from services.core.ids import approval_id
from services.core.settings import ApprovalSettings
from services.core.settings.oversight import UNEARNABLE
from services.core.wilson import still_needed, wilson
from services.operations.requests import decision_on

SQL = queries(__file__, "patterns.sql")


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


# A person opens or closes an intent; earn_approval decides whether that changes anything.
CONSUMER = "earn_approval"
INTENTS = tuple(one for one in get_args(Intent) if one not in UNEARNABLE)


class PatternUnknown(Permanent):
    """There is no such inbox, or no such intent that can be opened."""


async def change(
    app: App, inbox: str, intent: str, *, is_open: bool, by: str, reason: str, timeout_s: float
) -> Pattern:
    """Open or close an intent of an inbox; how it stands then. Raises `PatternUnknown`, `NotDecidedYet`."""
    if app.settings.known_inbox(inbox) is None:
        known = ", ".join(one.name for one in app.settings.inboxes)
        raise PatternUnknown(f"there is no inbox named {inbox!r} (known: {known})")
    if intent not in INTENTS:
        raise PatternUnknown(f"{intent!r} is no intent that can be opened; there are: {', '.join(INTENTS)}")
    workspace = app.settings.workspace
    id = approval_id(workspace, inbox, intent)
    asked = ApprovalRequested(approval_id=id, inbox=inbox, intent=intent, open=is_open, by=by, reason=reason)
    await decision_on(app, asked, CONSUMER, timeout_s=timeout_s)
    async with app.database.reading() as conn:
        found = await patterns(conn, workspace, app.settings.approval, inbox=inbox, intent=intent)
    return found[0] if found else Pattern(inbox, intent, False, 0, 0, 0.0, None, None, "", "", {})
