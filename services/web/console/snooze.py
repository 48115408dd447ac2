"""Putting a thread off: until a morning or a moment, and taking that back."""

from __future__ import annotations

from uuid import UUID

from fastapi import APIRouter, Request, Response

from schemas.events.answers import SnoozeRequested
from services.core.app import App
from services.core.web import RequestRefused
from services.operations.threads import requests
from services.operations.threads.listing import ThreadUnknown
from services.operations.threads.moments import MomentUnknown, moment_of
from services.web.bodies import Snooze
from services.web.console.forms import Form, checked
from services.web.console.language import Message, translated
from services.web.console.site import Site, done, form_of, viewer
from services.web.refusals import WAIT_S

MOMENTS = {
    "3h": Message("in 3 hours"),
    "tomorrow": Message("tomorrow morning"),
    "mon": Message("on Monday morning"),
    "7d": Message("in a week"),
}


def snooze_acts(site: Site) -> APIRouter:
    """What the form on a thread's page sends."""
    router = site.router()

    @router.post("/threads/{thread_id}/snooze")
    async def snooze(request: Request, thread_id: UUID) -> Response:
        wanted = snooze_of(site.app, form_of(request), viewer(request))
        try:
            await requests.snooze(site.app, asked_of(wanted, thread_id), timeout_s=WAIT_S)
        except ThreadUnknown as error:
            raise RequestRefused(404, "thread_unknown", str(error)) from None
        except requests.SnoozeRefused as error:
            raise RequestRefused(409, "snooze_refused", translated("Not done: %(reason)s.", reason=error)) from None
        return done(f"/threads/{thread_id}", "snoozed" if wanted.until else "woken")

    return router


def snooze_of(app: App, form: Form, by: str) -> Snooze:
    """What the form asks for: the typed moment, else the chosen one; `now` ends it. Raises `RequestRefused`."""
    typed = form.get("at", "") or form.get("until", "")
    try:
        until = None if typed == "now" else moment_of(typed, app.now(), app.settings.office_hours)
    except MomentUnknown as error:
        raise RequestRefused(422, "invalid", str(error)) from None
    return checked(Snooze, until=until, by=by)


def asked_of(wanted: Snooze, thread_id: UUID) -> SnoozeRequested:
    """The same for one thread."""
    return SnoozeRequested(thread_id=thread_id, **wanted.model_dump())
