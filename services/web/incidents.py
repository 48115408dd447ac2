"""Incidents over HTTP: what several customers report, and closing and reopening one."""

from __future__ import annotations

from typing import Literal
from uuid import UUID

from fastapi import APIRouter, Request, Response

from services.core.app import App
from services.core.web import RequestRefused
from services.core.web_paging import After, Limit, linked
from services.operations.incidents import (
    AnswerRefused,
    IncidentLine,
    IncidentUnknown,
    WholeIncident,
    change,
    found,
    list_incidents,
)
from services.web.bodies import IncidentChange
from services.web.refusals import WAIT_S


def add_incidents(router: APIRouter, app: App) -> None:
    """Reading and changing them."""

    @router.get("/incidents")
    async def listed(request: Request, response: Response, limit: Limit = 50, after: After = "") -> list[IncidentLine]:
        """Incidents, the newest first."""
        async with app.database.reading() as conn:
            page = await list_incidents(conn, app.settings, limit=limit, after=after)
        return linked(request, response, page)

    @router.get("/incidents/{incident_id}")
    async def one(incident_id: UUID) -> WholeIncident:
        """An incident with who reported it, and what became of the answer to each."""
        try:
            return await found(app, incident_id)
        except IncidentUnknown as error:
            raise RequestRefused(404, "incident_unknown", str(error)) from None

    @router.put("/incidents/{incident_id}")
    async def change_one(incident_id: UUID, body: IncidentChange) -> WholeIncident:
        """Close an incident, with an answer that is drafted for each who reported it, or reopen it; as it then is."""
        op: Literal["close", "reopen"] = "reopen" if body.is_open else "close"
        said = body.model_dump(include={"answer", "reason", "by"})
        try:
            return await change(app, incident_id, op, **said, timeout_s=WAIT_S)
        except IncidentUnknown as error:
            raise RequestRefused(404, "incident_unknown", str(error)) from None
        except AnswerRefused as error:
            raise RequestRefused(422, "answer_refused", str(error)) from None
