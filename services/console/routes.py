"""`/api/participants`: who they are, what is known of them and why, and changes to it."""

from __future__ import annotations

from fastapi import APIRouter, Depends, Query

from services.console import facts
from services.console.memory.people import Person, list_people
from services.console.named import Who, person
from services.console.token import bearer_of
from services.core.house import House


def routes(house: House) -> APIRouter:
    """The API's routes, all behind the bearer token."""
    router = APIRouter(prefix="/api", tags=["memory"], dependencies=[Depends(bearer_of(house.settings.web))])

    @router.get("/participants")
    async def participants(limit: int = Query(50, ge=1, le=500)) -> list[Person]:
        """Who has written to us, the latest first."""
        async with house.database.reading() as conn:
            return await list_people(conn, house.settings.workspace, limit=limit)

    @router.get("/participants/{who}")
    async def participant(who: Who) -> Person:
        """One participant, by address or id."""
        return await person(house, who)

    facts.add_reads(router, house)
    facts.add_wishes(router, house)
    return router
