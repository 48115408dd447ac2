"""Participants that are one person, over HTTP: 200 with the decision, 409 refused, 202 where it is not decided yet."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Response

from schemas.events.merging import ParticipantMergeRequested
from services.core.app import App
from services.core.web import RequestRefused
from services.operations.memory.people import NobodyFound, Person, pairs, same_person
from services.web.bodies import OtherSelf, Outcome
from services.web.by import ByQuery
from services.web.facts import outcome
from services.web.named import Who, person
from services.web.refusals import PENDING


def add_merges(router: APIRouter, app: App) -> None:
    """Reading and asking."""

    @router.get("/participants/{who}/same-person")
    async def others(who: Who) -> list[Person]:
        """The other participants who are the same person: what is known of one is known of all."""
        one = await person(app, who)
        async with app.database.reading() as conn:
            return await same_person(conn, app.settings.workspace, one.participant_id)

    @router.post("/participants/{who}/merge", responses=PENDING)
    async def merge(who: Who, body: OtherSelf, response: Response) -> Outcome:
        """The participant is the same person as another one. Nothing is moved, and it can be undone."""
        return await _each(app, who, body.into, response, op="merge", by=body.by, reason=body.reason)

    @router.delete("/participants/{who}/merge/{into}", responses=PENDING)
    async def unmerge(who: Who, into: str, response: Response, by: ByQuery) -> Outcome:
        """Undo a merge: each is again what was learned under their own address."""
        return await _each(app, who, into, response, op="unmerge", by=by)


async def _each(app: App, who: str, into: str, response: Response, **asked: Any) -> Outcome:
    """Ask it in every space that knows both; what became of the last."""
    async with app.database.reading() as conn:
        try:
            found = await pairs(conn, app.settings.workspace, who, into)
        except NobodyFound as error:
            raise RequestRefused(404, "participant_unknown", str(error)) from None
    became = [
        await outcome(
            app,
            ParticipantMergeRequested(participant_id=one.participant_id, into=other.participant_id, **asked),
            response,
        )
        for one, other in found
    ]
    return became[-1]
