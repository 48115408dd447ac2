"""What was known of a person at the end of a day, where nothing can be changed; and, for admins, bringing it back."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import HTMLResponse

from services.core.web import RequestRefused
from services.operations.memory.facts import THEN, in_order
from services.operations.memory.past import as_of
from services.operations.memory.restoring import INSTANT, difference, restore_within
from services.web.console.language import Message
from services.web.console.site import Site, done, form_of, viewer
from services.web.named import person
from services.web.refusals import WAIT_S

Day = Annotated[str, Query(max_length=10)]
NO_DAY = Message("Give a day that has come, such as 2026-05-03.")


def past_page(site: Site) -> APIRouter:
    """A day that has come; without one the page asks for it."""
    router, app = site.router(), site.app

    @router.get("/people/{who}/as-of")
    async def at_a_day(request: Request, who: UUID, day: Day = "") -> HTMLResponse:
        one, until = await person(app, str(who)), _end_of(day, app.now())
        if until is None:
            wrong = str(NO_DAY) if day else ""
            return site.page(request, "past.html", 422 if wrong else 200, person=one, at=None, facts=(), wrong=wrong)
        rules = app.settings.learning.confidence
        async with app.database.reading() as conn:
            times = {"valid_at": until, "known_at": until}
            found = await as_of(conn, app.settings.workspace, one.participant_id, **times, rules=rules)
        return site.page(request, "past.html", person=one, at=until, facts=in_order(found, THEN), wrong="")

    return router


def restoring_page(site: Site) -> APIRouter:
    """What would change, and the button that does it."""
    router, app = site.router(reads="admin", acts="admin"), site.app

    @router.get("/people/{who}/restore")
    async def preview(request: Request, who: UUID, day: Day) -> HTMLResponse:
        one, until = await person(app, str(who)), _moment(day)
        found = await difference(app, one.participant_id, until)
        return site.page(request, "restore.html", person=one, at=until, found=found, refused=())

    @router.post("/people/{who}/restore")
    async def bring_back(request: Request, who: UUID) -> Response:
        one, until = await person(app, str(who)), _moment(form_of(request).get("day", ""))
        made = await restore_within(app, one.participant_id, until, by=viewer(request), seconds=WAIT_S)
        if refused := [each for each in made.decisions if each.refused]:
            found = await difference(app, one.participant_id, until)
            return site.page(request, "restore.html", 409, person=one, at=until, found=found, refused=refused)
        return done(f"/people/{one.participant_id}", "restored" if made.done else "pending", "facts")

    def _moment(day: str) -> datetime:
        until = _end_of(day, app.now())
        if until is None:
            raise RequestRefused(422, "day_unknown", str(NO_DAY))
        return until

    return router


def _end_of(day: str, now: datetime) -> datetime | None:
    """The last moment of a day, UTC; now, where that is today. None: no day, or one to come."""
    try:
        begins = datetime.combine(date.fromisoformat(day), time(), UTC)
        return min(begins + timedelta(days=1) - INSTANT, now) if begins <= now else None
    except (ValueError, OverflowError):
        return None
