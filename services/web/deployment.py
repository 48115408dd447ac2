"""The deployment over HTTP: the settings in force, without their secrets, and replies on their way out."""

from __future__ import annotations

from typing import Literal

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel

from services.core.app import App
from services.core.web_paging import After, Limit, linked
from services.operations.deliveries.listing import DeliveryLine, ledger
from services.operations.settings_shown import InboxLines, SettingLine, inboxes_shown, settings_shown

DeliveryState = Literal["", "draft", "approved", "sending", "sent", "unknown", "failed", "bounced", "discarded"]


class ShownSettings(BaseModel):
    """Every setting in force, and what is effective for each inbox."""

    settings: list[SettingLine]
    inboxes: list[InboxLines]


def add_deployment(router: APIRouter, app: App) -> None:
    """Reading alone."""

    @router.get("/settings")
    async def settings() -> ShownSettings:
        """Each setting with its value and what said it. Secrets are not shown."""
        return ShownSettings(settings=settings_shown(app.settings), inboxes=inboxes_shown(app.settings))

    @router.get("/deliveries")
    async def deliveries(
        request: Request, response: Response, state: DeliveryState = "", limit: Limit = 50, after: After = ""
    ) -> list[DeliveryLine]:
        """Replies in a state ("" for all), the latest change first."""
        async with app.database.reading() as conn:
            page = await ledger(conn, app.settings.workspace, state, limit=limit, after=after)
        return linked(request, response, page)
