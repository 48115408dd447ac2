"""Outreach over HTTP: what came of mail that we began."""

from __future__ import annotations

from fastapi import APIRouter

from services.core.app import App
from services.operations.outreach import RuleLine, outreach_by_rule


def add_outreach(router: APIRouter, app: App) -> None:
    """Reading alone."""

    @router.get("/outreach")
    async def by_rule() -> list[RuleLine]:
        """What came of mail that we began, by inbox and rule."""
        async with app.database.reading() as conn:
            return await outreach_by_rule(conn, app.settings.workspace)
