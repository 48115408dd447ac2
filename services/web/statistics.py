"""What the memory holds and was used for, over HTTP."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query

from services.core.app import App
from services.operations.memory.statistics import MOST_WEEKS, Statistics, statistics


def add_statistics(router: APIRouter, app: App) -> None:
    """Reading them."""

    @router.get("/memory/statistics")
    async def of_memory(weeks: Annotated[int, Query(ge=1, le=MOST_WEEKS)] = 4) -> Statistics:
        """Facts by kind and how they stand; decisions, use and cost by week; of nobody by name."""
        return await statistics(app, weeks)
