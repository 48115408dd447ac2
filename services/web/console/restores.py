"""All memory brought back to an earlier moment, for admins: chosen, looked at, confirmed by a typed number, watched."""

from __future__ import annotations

from datetime import UTC, datetime
from uuid import UUID
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from fastapi import APIRouter, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse

from services.core.web import RequestRefused
from services.operations.memory import restores
from services.operations.memory.restores import WorkspaceRestore
from services.operations.memory.restoring import NotPastYet
from services.web.console.forms import Form
from services.web.console.language import Message, translated
from services.web.console.site import ROOT, Site, done, form_of, viewer

FACTS = 3  # of a person that are shown
NO_MOMENT = Message("Give a day and a time such as 2026-05-03T09:00, and a time zone such as Europe/Berlin.")


def restore_pages(site: Site) -> APIRouter:
    """The list with the form that begins one; one of them, with what may be done with it."""
    router, app = site.router(reads="admin", acts="admin"), site.app

    @router.get("/restores")
    async def listed(request: Request) -> HTMLResponse:
        return await _listed(site, request)

    @router.post("/restores")
    async def begin(request: Request) -> Response:
        form = form_of(request)
        try:
            begun = await restores.begin(app, _moment(form), by=viewer(request))
        except (RequestRefused, NotPastYet, restores.BeforeMemory) as error:
            return await _listed(site, request, 422, form, str(error))
        except restores.RestoreUnderWay as error:
            return await _listed(site, request, 409, form, str(error))
        return RedirectResponse(f"{ROOT}/restores/{begun.restore_id}", 303)

    @router.get("/restores/{restore_id}")
    async def one(request: Request, restore_id: UUID) -> HTMLResponse:
        return await _shown(site, request, restore_id)

    @router.post("/restores/{restore_id}/confirm")
    async def confirm(request: Request, restore_id: UUID) -> Response:
        found, typed = await _found(site, restore_id), form_of(request).get("people", "").strip()
        if typed != str(found.changed):
            wrong = translated("Nothing was changed: what you typed is not the number of people below.")
            return await _shown(site, request, restore_id, 422, wrong)
        try:
            await restores.confirm(app, restore_id, people=found.changed, by=viewer(request))
        except restores.NotAsSeen as error:
            return await _shown(site, request, restore_id, 409, translated("Not begun: %(reason)s.", reason=error))
        return done(f"/restores/{restore_id}", "restoring")

    @router.post("/restores/{restore_id}/stop")
    async def stop(request: Request, restore_id: UUID) -> Response:
        await restores.stop(app, (await _found(site, restore_id)).restore_id, by=viewer(request))
        return done(f"/restores/{restore_id}", "restore_stopped")

    return router


async def _listed(
    site: Site, request: Request, status: int = 200, kept: Form | None = None, wrong: str = ""
) -> HTMLResponse:
    """Those there are; `kept` is what was typed in vain."""
    zone = site.app.settings.office_hours.time_zone
    lines = await restores.restores(site.app)
    return site.page(request, "restores.html", status, lines=lines, kept=kept or {}, wrong=wrong, zone=zone)


async def _shown(site: Site, request: Request, restore_id: UUID, status: int = 200, wrong: str = "") -> HTMLResponse:
    found = await _found(site, restore_id)
    seen = await restores.examples(site.app, found) if found.state == "looked" else []
    people = [(one, what, restores.by_kind(what)) for one, what in seen]
    return site.page(request, "workspace_restore.html", status, one=found, people=people, facts=FACTS, wrong=wrong)


async def _found(site: Site, restore_id: UUID) -> WorkspaceRestore:
    try:
        return await restores.found(site.app, restore_id)
    except restores.RestoreUnknown:
        raise RequestRefused(404, "restore_unknown", translated("There is no restore with this id.")) from None


def _moment(form: Form) -> datetime:
    """The moment in UTC. Raises `RequestRefused`."""
    try:
        zone = ZoneInfo(form.get("zone", "").strip())
        at = datetime.fromisoformat(form.get("at", "").strip())
        return (at if at.tzinfo else at.replace(tzinfo=zone)).astimezone(UTC)
    except (ZoneInfoNotFoundError, ValueError, OverflowError, OSError):
        raise RequestRefused(422, "moment_unknown", str(NO_MOMENT)) from None
