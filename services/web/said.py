"""What was said, and what is known of everybody, found over HTTP as the agent would find it."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import BaseModel

from services.core.app import App
from services.memory.facts import Fact
from services.memory.said import Said
from services.operations.memory.search import find_everywhere, find_said
from services.web.named import Who, person

Question = Annotated[str, Query(min_length=1, max_length=2000)]
Limit = Annotated[int, Query(ge=1, le=100)]


class ScoredFact(BaseModel):
    """A fact of anybody, and how well it fits."""

    fact: Fact
    score: float


def add_said(router: APIRouter, app: App) -> None:
    """Searches of messages and summaries, and of the workspace."""

    @router.get("/participants/{who}/said/search")
    async def said_to(who: Who, q: Question, limit: Limit = 20) -> list[Said]:
        """Messages and thread summaries that this person may see, best first."""
        one = await person(app, who)
        return (await find_said(app, one.participant_id, q, now=app.now(), limit=limit)).said

    @router.get("/said/search")
    async def said(q: Question, limit: Limit = 20) -> list[Said]:
        """Messages of everybody, best first."""
        return (await find_said(app, None, q, now=app.now(), limit=limit)).said

    @router.get("/facts/search")
    async def facts(q: Question, limit: Limit = 20) -> list[ScoredFact]:
        """Facts of everybody, best first."""
        found = await find_everywhere(app, q, now=app.now(), limit=limit)
        return [ScoredFact(fact=hit.fact, score=hit.score) for hit in found]
