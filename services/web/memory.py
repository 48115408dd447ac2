"""What memory holds, read over HTTP: what was said, told periods, the graph, and figures."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import AwareDatetime, BaseModel

from schemas.model_output import Grain
from services.core.app import App
from services.memory.condensed import CondensedPeriod
from services.memory.facts import Fact
from services.memory.said import Said
from services.operations.memory.graph import Graph, graph_of
from services.operations.memory.search import find_everywhere, find_said
from services.operations.memory.statistics import MOST_WEEKS, Statistics, statistics
from services.operations.periods import find_periods, periods_of
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


# A participant's told periods over HTTP.


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


# What the memory holds and was used for, over HTTP.


def add_statistics(router: APIRouter, app: App) -> None:
    """Reading them."""

    @router.get("/memory/statistics")
    async def of_memory(weeks: Annotated[int, Query(ge=1, le=MOST_WEEKS)] = 4) -> Statistics:
        """Facts by kind and how they stand; decisions, use and cost by week; of nobody by name."""
        return await statistics(app, weeks)


# Who and what hang together around a participant, over HTTP; to be read alone.


def add_graph(router: APIRouter, app: App) -> None:
    """Reading the graph."""

    @router.get("/participants/{who}/graph")
    async def graph(
        who: Who, about: Annotated[str, Query(max_length=200)] = "", at: AwareDatetime | None = None
    ) -> Graph:
        """The edges that a person's facts are, and those of others that lead to the same things.

        With `at` their own edges alone, as they were known then.
        """
        one = await person(app, who)
        async with app.database.reading() as conn:
            return await graph_of(conn, app.settings.workspace, one, now=app.now(), about=about, at=at)
