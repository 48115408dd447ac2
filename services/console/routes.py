"""`/api`: participants and what is known of them, threads, drafts, documents; and what a person asks of each."""

from __future__ import annotations

from fastapi import APIRouter, Depends, Query

from services.console import facts
from services.console.drafts import routes as drafts
from services.console.explanations import add_explanations
from services.console.knowledge import routes as knowledge
from services.console.lifecycles import add_lifecycle
from services.console.memory.people import Person, list_people
from services.console.merges import add_merges
from services.console.named import Who, person
from services.console.profiles import add_profile
from services.console.storable import asks_for_storable
from services.console.threads import routes as threads
from services.console.token import bearer_of
from services.core.house import House


def routes(house: House) -> APIRouter:
    """The API's routes, all behind the bearer token."""
    guards = [Depends(bearer_of(house.settings.web)), Depends(asks_for_storable)]
    api = APIRouter(prefix="/api", dependencies=guards)
    parts = {
        "memory": (_add_people, add_profile, add_lifecycle, facts.add_reads, facts.add_wishes, add_merges),
        "threads": (threads.add_reads, threads.add_wishes, add_explanations),
        "drafts": (drafts.add_reads, drafts.add_wishes),
        "knowledge": (knowledge.add_documents, knowledge.add_articles),
    }
    for tag, adders in parts.items():
        router = APIRouter(tags=[tag])
        for add in adders:
            add(router, house)
        api.include_router(router)
    return api


def _add_people(router: APIRouter, house: House) -> None:
    @router.get("/participants")
    async def participants(limit: int = Query(50, ge=1, le=500)) -> list[Person]:
        """Who has written to us, the latest first."""
        async with house.database.reading() as conn:
            return await list_people(conn, house.settings.workspace, limit=limit)

    @router.get("/participants/{who}")
    async def participant(who: Who) -> Person:
        """One participant, by address or id."""
        return await person(house, who)
