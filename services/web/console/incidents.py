"""What several customers report at once, its end and what became of the answer to each; and mail that we begin."""

from __future__ import annotations

from typing import Literal
from uuid import UUID

from fastapi import APIRouter, Request, Response
from fastapi.responses import HTMLResponse

from services.core.web import RequestRefused
from services.core.web_paging import After
from services.operations.incidents import AnswerRefused, IncidentUnknown, change, found, list_incidents
from services.operations.outreach import outreach_by_rule
from services.web.bodies import IncidentChange
from services.web.console.forms import Form, checked
from services.web.console.language import translated
from services.web.console.site import Site, done, form_of, viewer
from services.web.refusals import WAIT_S

LINES = 50  # a page


def incident_pages(site: Site) -> APIRouter:
    """The list, one of them, and closing or reopening it."""
    router, app = site.router(), site.app

    @router.get("/incidents")
    async def incidents(request: Request, after: After = "") -> HTMLResponse:
        async with app.database.reading() as conn:
            page = await list_incidents(conn, app.settings, limit=LINES, after=after)
        inboxes = {one.name: app.settings.incidents_of(one.name) for one in app.settings.inboxes}
        watched = {name: one for name, one in inboxes.items() if one.customers}
        return site.page(request, "incidents.html", lines=page, after=after, watched=watched)

    @router.get("/incidents/{incident_id}")
    async def incident(request: Request, incident_id: UUID) -> HTMLResponse:
        return await _shown(site, request, incident_id)

    @router.post("/incidents/{incident_id}")
    async def act(request: Request, incident_id: UUID) -> Response:
        form, by = form_of(request), viewer(request)
        op: Literal["close", "reopen"] = "reopen" if form.get("op") == "reopen" else "close"
        try:
            said = {"answer": form.get("answer", ""), "reason": form.get("reason", "")}
            wanted = checked(IncidentChange, is_open=op == "reopen", **said, by=by)
            await change(app, incident_id, op, **wanted.model_dump(exclude={"is_open"}), timeout_s=WAIT_S)
        except IncidentUnknown as error:
            raise RequestRefused(404, "incident_unknown", str(error)) from None
        except (AnswerRefused, RequestRefused) as error:
            return await _shown(site, request, incident_id, 422, form, str(error))
        return done(f"/incidents/{incident_id}", "reopened" if op == "reopen" else "closed")

    return router


async def _shown(
    site: Site, request: Request, incident_id: UUID, status: int = 200, kept: Form | None = None, wrong: str = ""
) -> HTMLResponse:
    """One of them; `kept` is what was written for it in vain."""
    try:
        whole = await found(site.app, incident_id)
    except IncidentUnknown:
        raise RequestRefused(404, "incident_unknown", translated("There is no incident with this id.")) from None
    return site.page(request, "incident.html", status, whole=whole, kept=kept or {}, wrong=wrong)


def outreach_page(site: Site) -> APIRouter:
    """What came of mail that we began, by rule."""
    router, app = site.router(), site.app

    @router.get("/outreach")
    async def outreach(request: Request) -> HTMLResponse:
        async with app.database.reading() as conn:
            lines = await outreach_by_rule(conn, app.settings.workspace)
        return site.page(
            request, "outreach.html", lines=lines, rules=[one.name for one in app.settings.reach_out.rules]
        )

    return router
