"""A participant's told periods over HTTP."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query

from schemas.model_output import Grain
from services.core.app import App
from services.memory.condensed import CondensedPeriod
from services.operations.periods import find_periods, periods_of
from services.web.named import Who, person
from services.web.said import Limit, Question


def add_periods(router: APIRouter, app: App) -> None:
    """Reading and searching them."""

    @router.get("/participants/{who}/periods")
    async def told(
        who: Who, grain: Annotated[Grain | None, Query()] = None, limit: Limit = 20
    ) -> list[CondensedPeriod]:
        """The latest periods that a model told, and whether each stands; else the agent gets the rows."""
        return await periods_of(app, (await person(app, who)).participant_id, grain=grain, limit=limit)

    @router.get("/participants/{who}/periods/search")
    async def search(who: Who, q: Question, limit: Limit = 20) -> list[CondensedPeriod]:
        """The told periods that stand and answer a question, best first."""
        one = await person(app, who)
        return await find_periods(app, one.participant_id, q, now=app.now(), limit=limit)
