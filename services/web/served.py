"""What the edge answers: the API under `/api`, its tools for assistants at `/mcp`, and the console under `/console`.

`/` leads to the console.
"""

from __future__ import annotations

from fastapi import APIRouter
from fastapi.responses import RedirectResponse
from starlette.routing import Route

from services.core.app import App
from services.web.assistants.endpoint import PATH, Endpoint
from services.web.console.routes import pages
from services.web.console.site import ROOT
from services.web.routes import routes
from services.web.unsubscribe import unsubscribing


def served(app: App) -> APIRouter:
    """All routes."""
    every = APIRouter()
    every.include_router(routes(app))
    every.routes.append(Route(PATH, Endpoint(app), methods=["GET", "POST", "DELETE"]))
    every.include_router(unsubscribing(app))
    if app.settings.web.console:
        every.include_router(pages(app))
        every.add_api_route("/", _first, include_in_schema=False)
    return every


async def _first() -> RedirectResponse:
    return RedirectResponse(ROOT, 303)
