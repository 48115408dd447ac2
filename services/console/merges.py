"""Participants that are one person, over HTTP: 200 with the decision, 409 refused, 202 where it is not decided yet."""

from __future__ import annotations

from uuid import UUID

from fastapi import APIRouter, Response

from schemas.events.merging import ParticipantMergeRequested
from services.console.bodies import OtherSelf, Outcome
from services.console.by import ByQuery
from services.console.facts import outcome
from services.console.memory.merging import same_person
from services.console.memory.people import Person
from services.console.named import Who, person
from services.core.house import House


def add_merges(router: APIRouter, house: House) -> None:
    """Reading and asking."""

    @router.get("/participants/{who}/same-person")
    async def others(who: Who) -> list[Person]:
        """The other participants who are the same person: what is known of one is known of all."""
        one = await person(house, who)
        async with house.database.reading() as conn:
            return await same_person(conn, house.settings.workspace, one.participant_id)

    @router.post("/participants/{who}/merge")
    async def merge(who: Who, body: OtherSelf, response: Response) -> Outcome:
        """The participant is the same person as another one. Nothing is moved, and it can be undone."""
        ids = await _ids(house, who, body.into)
        wish = ParticipantMergeRequested(**ids, op="merge", by=body.by, reason=body.reason)
        return await outcome(house, wish, response)

    @router.delete("/participants/{who}/merge/{into}")
    async def unmerge(who: Who, into: str, response: Response, by: ByQuery) -> Outcome:
        """Undo a merge: each is again what was learned under their own address."""
        wish = ParticipantMergeRequested(**await _ids(house, who, into), op="unmerge", by=by)
        return await outcome(house, wish, response)


async def _ids(house: House, who: str, into: str) -> dict[str, UUID]:
    return {
        "participant_id": (await person(house, who)).participant_id,
        "into": (await person(house, into)).participant_id,
    }
