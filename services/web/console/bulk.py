"""Several threads at once: resolved, or assigned to somebody. Each is asked by itself, and what was refused is said."""

from __future__ import annotations

import asyncio
from uuid import UUID

from fastapi import APIRouter, Request, Response

from schemas.events.answers import AssignmentRequested
from services.core.errors import Permanent, Temporary
from services.core.web import RequestRefused
from services.operations.threads import answers, requests
from services.web.bodies import Assignment
from services.web.console.forms import Form, checked
from services.web.console.inbox import show_inbox
from services.web.console.site import Site, done, form_of, viewer
from services.web.patience import WAIT_S

CHOSEN = "thread "  # the name of a chosen thread's box, before its id
AT_ONCE = 8
DONE = {"resolve": "resolved", "assign": "assigned_all"}  # act -> what the page says of it


def bulk_acts(site: Site) -> APIRouter:
    """What the form below the inbox sends."""
    router = site.router()

    @router.post("/inbox/threads")
    async def act(request: Request) -> Response:
        form, by = form_of(request), viewer(request)
        what, chosen = form.get("act"), _chosen(form)
        wanted = checked(Assignment, assignee=form.get("assignee", ""), by=by)
        if what not in DONE:
            raise RequestRefused(422, "invalid", "There is no such act.")
        turn = asyncio.Semaphore(AT_ONCE)

        async def one(thread_id: UUID) -> str:
            async with turn:
                return await (_resolve(site, thread_id, by) if what == "resolve" else _assign(site, thread_id, wanted))

        refused = {id: why for id, why in zip(chosen, await asyncio.gather(*map(one, chosen)), strict=True) if why}
        if refused:
            return await show_inbox(site, request, refused=refused, status=409)
        return done("/inbox", DONE[what])

    return router


def _chosen(form: Form) -> list[UUID]:
    """The threads whose boxes are checked. Raises `RequestRefused`."""
    try:
        chosen = [UUID(name.removeprefix(CHOSEN)) for name in form if name.startswith(CHOSEN)]
    except ValueError:
        raise RequestRefused(422, "invalid", "what was chosen is no thread") from None
    if not chosen:
        raise RequestRefused(422, "invalid", "Choose threads first: the boxes at their left, or key x.")
    return chosen


async def _resolve(site: Site, thread_id: UUID, by: str) -> str:
    """Why it was not done, "" where it was."""
    try:
        return (await requests.move(site.app, thread_id, "resolved", "", by, timeout_s=WAIT_S)).refused
    except (Permanent, Temporary) as error:
        return str(error)


async def _assign(site: Site, thread_id: UUID, wanted: Assignment) -> str:
    """The same."""
    try:
        asked = AssignmentRequested(thread_id=thread_id, **wanted.model_dump())
        await answers.assign(site.app, asked, timeout_s=WAIT_S)
    except (Permanent, Temporary) as error:
        return str(error)
    return ""
