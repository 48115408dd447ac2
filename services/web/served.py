"""What the edge answers: the API under `/api`, the console under `/console`, and `/`, which leads to the console."""

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
    every.include_router(pages(app))

    @every.get("/", include_in_schema=False)
    async def first() -> RedirectResponse:
        return RedirectResponse(ROOT, 303)

    return every
