"""A person's facts brought back to what was believed at a moment, over HTTP: looked at first, then done."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Response
from pydantic import AwareDatetime

from services.core.app import App
from services.core.web import RequestRefused
from services.operations.memory.restoring import Difference, NotPastYet, Restored, difference, restore_within
from services.web.bodies import Restoring
from services.web.named import Who, person
from services.web.patience import WAIT_S
from services.web.refusals import PENDING

At = Annotated[AwareDatetime, Query(description="with its offset: 2026-01-15T09:00:00Z")]


def add_restoring(router: APIRouter, app: App) -> None:
    """Looking, which changes nothing, and doing."""

    @router.get("/participants/{who}/restore")
    async def look(who: Who, at: At) -> Difference:
        """The facts that came since a moment, and those that are gone since, as they stood then."""
        one = await person(app, who)
        try:
            return await difference(app, one.participant_id, at)
        except NotPastYet as error:
            raise RequestRefused(422, "not_past_yet", str(error)) from None

    @router.post("/participants/{who}/restore", responses=PENDING)
    async def bring_back(who: Who, body: Restoring, response: Response) -> Restored:
        """Take back what came, add what is gone: 200 with the decision on each fact, refused ones too.

        202 where `done` is false: the same request again goes on, and asks nothing twice.
        """
        one = await person(app, who)
        try:
            made = await restore_within(app, one.participant_id, body.at, by=body.by, seconds=WAIT_S)
        except NotPastYet as error:
            raise RequestRefused(422, "not_past_yet", str(error)) from None
        response.status_code = 200 if made.done else 202
        return made
