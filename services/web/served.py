"""What the edge answers: the API under `/api`; the console under `/console`, with `/`, which leads there."""

from __future__ import annotations

from fastapi import APIRouter
from fastapi.responses import RedirectResponse

from services.core.app import App
from services.web.console.routes import pages
from services.web.console.site import ROOT
from services.web.routes import routes


def served(app: App) -> APIRouter:
    """All routes."""
    every = APIRouter()
    every.include_router(routes(app))
    if app.settings.web.console:
        every.include_router(pages(app))
        every.add_api_route("/", _first, include_in_schema=False)
    return every


async def _first() -> RedirectResponse:
    return RedirectResponse(ROOT, 303)
