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
from services.web.ratings import rating_pages
from services.web.routes import routes
from services.web.unsubscribe import unsubscribing


def served(app: App) -> APIRouter:
    """All routes."""
    every = APIRouter()
    every.routes.extend(routes(app).routes)
    every.routes.append(Route(PATH, Endpoint(app), methods=["GET", "POST", "DELETE"]))
    every.routes.extend(unsubscribing(app).routes)
    every.routes.extend(rating_pages(app).routes)
    if app.settings.web.console:
        every.routes.extend(pages(app).routes)
        every.add_api_route("/", _first, include_in_schema=False)
    return every


async def _first() -> RedirectResponse:
    return RedirectResponse(ROOT, 303)
