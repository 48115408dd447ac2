"""An outage of the model as others see it: one row while the circuit is open, for `status`, metrics and alerts.

Each process has a circuit of its own; whoever meets the outage notes it, and whoever is answered first clears the row.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

import psycopg
import structlog

from services.core.app import App
from services.core.db import Connection, fetch_all
from services.core.outages import LONGEST_ERROR, SQL
from services.core.storable import storable

log = structlog.get_logger(__name__)

SERVICE = "model"


@dataclass(frozen=True, slots=True)
class ModelOutage:
    """The model is away: since when, what it last said, when the next probe is."""

    since: datetime
    error: str
    next_probe: datetime
    noted_at: datetime


async def note(app: App) -> None:
    """Have the row say what this process's circuit says; without effect where nothing changed since the last note."""
    state = app.model.state
    seen = (state.mode != "closed", state.until)
    if seen == app.model.noted or state.mode == "half_open":
        return
    now = app.now()
    key = {"workspace": app.settings.workspace, "service": SERVICE}
    args = {**key, "now": now, "error": storable(app.model.error[:LONGEST_ERROR])}
    try:
        async with app.database.reading() as conn:
            if state.mode == "closed":
                await conn.execute(SQL.clear, key)
            else:
                await conn.execute(SQL.note, {**args, "next_probe": now + timedelta(seconds=app.model.wait_s)})
    except psycopg.Error as error:
        log.warning("the state of the model could not be noted", error=repr(error))
        return
    if state.mode != "closed":
        log.error("the model is away: its turns wait", error=app.model.error, next_probe_s=round(app.model.wait_s))
    elif app.model.noted is not None:
        log.info("the model answers again")
    app.model.noted = seen


async def model_outage(app: App) -> ModelOutage | None:
    """The outage of the model that is noted, or None."""
    async with app.database.reading() as conn:
        return await noted_outage(conn, app.settings.workspace)


async def noted_outage(conn: Connection, workspace: str) -> ModelOutage | None:
    """The same, on a connection that is held."""
    rows = await fetch_all(conn, SQL.found, {"workspace": workspace})
    found = (row for row in rows if row["service"] == SERVICE)
    return next((ModelOutage(row["since"], row["error"], row["next_probe"], row["noted_at"]) for row in found), None)
