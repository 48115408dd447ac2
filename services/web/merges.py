"""Participants that are one person, over HTTP: 200 with the decision, 409 refused, 202 where it is not decided yet."""

from __future__ import annotations

from uuid import UUID

from fastapi import APIRouter, Response

from schemas.events.merging import ParticipantMergeRequested
from services.core.app import App
from services.operations.memory.merges import same_person
from services.operations.memory.people import Person
from services.web.bodies import OtherSelf, Outcome
from services.web.by import ByQuery
from services.web.facts import outcome
from services.web.named import Who, person


def add_merges(router: APIRouter, app: App) -> None:
    """Reading and asking."""

    @router.get("/participants/{who}/same-person")
    async def others(who: Who) -> list[Person]:
        """The other participants who are the same person: what is known of one is known of all."""
        one = await person(app, who)
        async with app.database.reading() as conn:
            return await same_person(conn, app.settings.workspace, one.participant_id)

    @router.post("/participants/{who}/merge")
    async def merge(who: Who, body: OtherSelf, response: Response) -> Outcome:
        """The participant is the same person as another one. Nothing is moved, and it can be undone."""
        ids = await _ids(app, who, body.into)
        command = ParticipantMergeRequested(**ids, op="merge", by=body.by, reason=body.reason)
        return await outcome(app, command, response)

    @router.delete("/participants/{who}/merge/{into}")
    async def unmerge(who: Who, into: str, response: Response, by: ByQuery) -> Outcome:
        """Undo a merge: each is again what was learned under their own address."""
        command = ParticipantMergeRequested(**await _ids(app, who, into), op="unmerge", by=by)
        return await outcome(app, command, response)


async def _ids(app: App, who: str, into: str) -> dict[str, UUID]:
    return {
        "participant_id": (await person(app, who)).participant_id,
        "into": (await person(app, into)).participant_id,
    }
