"""The brief of a participant over HTTP: read, written and deleted by people; learn_facts decides."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Response
from pydantic import BaseModel

from schemas.events.memory import BriefRequested
from services.core.app import App
from services.core.web import RequestRefused
from services.operations.memory.briefs import LATEST, PersonBrief, briefs_of, change_brief, earlier_briefs
from services.operations.requests import NotDecidedYet
from services.web.bodies import NewBrief, Version
from services.web.named import ByQuery, Who, person
from services.web.refusals import PENDING, WAIT_S


class Brief(BaseModel):
    """The brief that the agent reads, null where there is none; `beside` is what is to be merged into it."""

    brief: PersonBrief | None
    beside: list[PersonBrief]


def add_brief(router: APIRouter, app: App) -> None:
    """Reading, and asking: 200 with the brief as it then is, 409 refused, 202 not decided yet."""

    @router.get("/participants/{who}/brief")
    async def brief(who: Who) -> Brief:
        """What the agent is told of a person before each reply, and what turns at the same time wrote beside it."""
        one = await person(app, who)
        found = await briefs_of(app, one.participant_id)
        return Brief(brief=found[0] if found else None, beside=found[1:])

    @router.get("/participants/{who}/brief/history")
    async def earlier(who: Who, limit: Annotated[int, Query(ge=1, le=100)] = LATEST) -> list[PersonBrief]:
        """The latest briefs that do not hold any more, newest first; one without a text is a deletion."""
        return await earlier_briefs(app, (await person(app, who)).participant_id, limit=limit)

    @router.put("/participants/{who}/brief", responses=PENDING)
    async def edit(who: Who, body: NewBrief, response: Response) -> Brief | None:
        """Write the brief; the next turn reads it, and what was to be merged is gone."""
        await _ask(who, response, op="edit", **body.model_dump())
        return None if response.status_code == 202 else await brief(who)

    @router.delete("/participants/{who}/brief", responses=PENDING)
    async def delete(
        who: Who,
        response: Response,
        by: ByQuery,
        base: Annotated[Version, Query(description="the version that you saw")] = "",
    ) -> Brief | None:
        """Delete the brief; the next turn writes it again from what is known then."""
        await _ask(who, response, op="delete", by=by, base=base)
        return None if response.status_code == 202 else await brief(who)

    async def _ask(who: str, response: Response, **given: Any) -> None:
        one = await person(app, who)
        request = BriefRequested.model_validate({"participant_id": one.participant_id, **given})
        try:
            became = await change_brief(app, request, timeout_s=WAIT_S)
        except NotDecidedYet:
            response.status_code = 202
            return
        if became.refused:
            raise RequestRefused(409, "refused", became.reason)
