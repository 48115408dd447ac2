"""`/api`: participants and what is known of them, threads, drafts, documents; and what a person asks of each."""

from __future__ import annotations

from fastapi import APIRouter, Depends, Request, Response

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
from services.console.token import BEARER, bearer_of
from services.core.guarded_route import API_BODY_BYTES, guarded
from services.core.house import House
from services.core.web_paging import After, Limit, linked


def routes(house: House) -> APIRouter:
    """The API's routes, all behind a bearer token whose scopes name their area."""
    checks = bearer_of(house.settings.web)
    api = APIRouter(prefix="/api", dependencies=[Depends(BEARER), Depends(asks_for_storable)])
    parts = (
        (
            "memory",
            API_BODY_BYTES,
            (_add_people, add_profile, add_lifecycle, facts.add_reads, facts.add_wishes, add_merges),
        ),
        ("threads", API_BODY_BYTES, (threads.add_reads, threads.add_wishes, add_explanations)),
        ("drafts", API_BODY_BYTES, (drafts.add_reads, drafts.add_rejection)),
        ("drafts", drafts.most_bytes(house), (drafts.add_approval,)),
        ("knowledge", API_BODY_BYTES, (knowledge.add_documents, knowledge.add_articles)),
    )
    for tag, most, adders in parts:
        router = APIRouter(tags=[tag], route_class=guarded(checks(tag), most))
        for add in adders:
            add(router, house)
        api.include_router(router)
    return api


def _add_people(router: APIRouter, house: House) -> None:
    @router.get("/participants")
    async def participants(request: Request, response: Response, limit: Limit = 50, after: After = "") -> list[Person]:
        """Who has written to us, the latest first."""
        async with house.database.reading() as conn:
            page = await list_people(conn, house.settings.workspace, limit=limit, after=after)
        return linked(request, response, page)

    @router.get("/participants/{who}")
    async def participant(who: Who) -> Person:
        """One participant, by address or id."""
        return await person(house, who)
