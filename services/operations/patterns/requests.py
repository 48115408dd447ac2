"""A person opens or closes an intent; earn_approval decides whether that changes anything."""

from __future__ import annotations

from typing import get_args

from schemas.events.approvals import ApprovalRequested
from schemas.model_output import Intent
from services.core.app import App
from services.core.errors import Permanent
from services.core.ids import approval_id
from services.core.settings.approval import UNEARNABLE
from services.operations.patterns.listing import Pattern, patterns
from services.operations.requests import decision_on

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
