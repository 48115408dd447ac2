"""The guide of a first run: what is done on the way to a first answered mail, and the command or page of the next step.

It stands above the inbox until a mail was answered or its reader puts it away, and always on its own page.
"""

from __future__ import annotations

from fastapi import APIRouter, Request, Response
from fastapi.responses import HTMLResponse

from services.core.app import App
from services.operations.first_steps import FirstSteps, first_steps
from services.operations.users import User, close_first_steps
from services.web.console.site import Site, done, form_of, user_in


async def guide_for(app: App, user: User) -> FirstSteps | None:
    """The guide where it belongs above a user's inbox."""
    if user.first_steps_closed:
        return None
    found = await first_steps(app)
    return None if found.over else found


def first_steps_page(site: Site) -> APIRouter:
    """The page, and what puts the guide away."""
    router, app = site.router(acts="viewer"), site.app

    @router.get("/first-steps")
    async def steps(request: Request) -> HTMLResponse:
        return site.page(request, "first_steps.html", guide=await first_steps(app))

    @router.post("/first-steps")
    async def close(request: Request) -> Response:
        closed = form_of(request).get("act") != "open"
        await close_first_steps(app, user_in(request).user_id, closed)
        return done("/inbox", "guide_closed" if closed else "guide_open")

    return router
