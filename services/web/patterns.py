"""Patterns of approval over HTTP: what people make of drafts by intent, and opening and closing one."""

from __future__ import annotations

from fastapi import APIRouter

from services.core.app import App
from services.core.web import RequestRefused
from services.operations.patterns import Pattern, PatternUnknown, change, patterns
from services.web.bodies import PatternChange
from services.web.patience import WAIT_S


def add_patterns(router: APIRouter, app: App) -> None:
    """Reading and changing them."""

    @router.get("/patterns")
    async def listed() -> list[Pattern]:
        """What people make of drafts, by inbox and intent, and how far each intent is from needing no person."""
        async with app.database.reading() as conn:
            return await patterns(conn, app.settings.workspace, app.settings.approval)

    @router.put("/patterns/{inbox}/{intent}")
    async def change_one(inbox: str, intent: str, body: PatternChange) -> Pattern:
        """Open or close an intent of an inbox; as it then is."""
        try:
            return await change(
                app, inbox, intent, is_open=body.is_open, by=body.by, reason=body.reason, timeout_s=WAIT_S
            )
        except PatternUnknown as error:
            raise RequestRefused(404, "pattern_unknown", str(error)) from None
