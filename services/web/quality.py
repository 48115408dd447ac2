"""How good the agent's words are, over HTTP."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query

from services.core.app import App
from services.operations.quality import MOST_WEEKS, Quality, quality


def add_quality(router: APIRouter, app: App) -> None:
    """Reading it."""

    @router.get("/quality")
    async def of_replies(weeks: Annotated[int, Query(ge=1, le=MOST_WEEKS)] = 12) -> Quality:
        """What people made of drafts and replies, by week, inbox and intent; of nobody by name."""
        return await quality(app, weeks)
