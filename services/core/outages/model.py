"""An outage of the model as others see it: one row while the circuit is open, for `status`, metrics and alerts.

Each process has a circuit of its own; whoever meets the outage notes it, and whoever is answered first clears the row.
"""

from __future__ import annotations

from datetime import timedelta

import psycopg
import structlog

from services.core.app import App
from services.core.outages import LONGEST_ERROR, SQL, ServiceOutage, noted_outage
from services.core.storable import storable

log = structlog.get_logger(__name__)

SERVICE = "model"


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


async def model_outage(app: App) -> ServiceOutage | None:
    """The outage of the model that is noted, or None."""
    async with app.database.reading() as conn:
        return await noted_outage(conn, app.settings.workspace, SERVICE)
