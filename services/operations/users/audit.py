"""What signed-in people did through the console: who, when, which act, on what, and what it answered. No content."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from services.core.app import App
from services.core.clock import random_id
from services.core.db import fetch_all
from services.core.paging import Listing, Page
from services.operations.users import SQL

KEPT = timedelta(days=400)
LONGEST = 300  # characters of an address
ENTRIES = Listing("console_audit", (("at", "time"), ("audit_id", "id")), descending=True)


@dataclass(frozen=True, slots=True)
class Entry:
    """One act. `status` is the HTTP status of its answer."""

    audit_id: UUID
    at: datetime
    by: str
    act: str
    subject: str
    status: int


async def note(app: App, by: str, act: str, subject: str = "", status: int = 200) -> None:
    """Record an act; what is older than `KEPT` goes."""
    now = app.now()
    row = {
        "audit_id": random_id(),
        "workspace": app.settings.workspace,
        "at": now,
        "by": by,
        "act": act,
        "subject": subject[:LONGEST],
        "status": status,
    }
    async with app.database.reading() as conn:
        await conn.execute(SQL.add_audit, row)
        await conn.execute(SQL.forget_audit, {"workspace": app.settings.workspace, "before": now - KEPT})


async def entries(app: App, *, limit: int, after: str = "") -> Page[Entry]:
    """What was done, the newest first. Raises `BadCursor`."""
    args = {"workspace": app.settings.workspace} | ENTRIES.args(after, limit)
    async with app.database.reading() as conn:
        rows = await fetch_all(conn, SQL.audit, args)
    return ENTRIES.page([Entry(**row) for row in rows], limit)
