"""What is away, as one process tells the others: a row for each service, which `status`, metrics and alerts read."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from services.core.db import Connection, fetch_all, queries

SQL = queries(__file__, "outages.sql")
LONGEST_ERROR = 500  # characters of what the service, or the network, said


@dataclass(frozen=True, slots=True)
class ServiceOutage:
    """A service that everything waits for is away: since when, what it last said, when the next probe is."""

    since: datetime
    error: str
    next_probe: datetime
    noted_at: datetime


async def noted_outage(conn: Connection, workspace: str, service: str) -> ServiceOutage | None:
    """The outage of a service that is noted, or None."""
    rows = await fetch_all(conn, SQL.found, {"workspace": workspace})
    found = (row for row in rows if row["service"] == service)
    return next((ServiceOutage(row["since"], row["error"], row["next_probe"], row["noted_at"]) for row in found), None)
