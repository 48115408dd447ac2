"""The facts of a participant over HTTP: reads with provenance, and requests, which learn_facts decides."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Query, Request, Response
from pydantic import AwareDatetime, BaseModel

from schemas.events.memory import FactRequested
from schemas.events.merging import ParticipantMergeRequested
from services.core.app import App
from services.core.paging import MOST
from services.core.web import RequestRefused
from services.core.web_paging import After, linked
from services.core.web_paging import Limit as Many
from services.memory.cue import Verdict
from services.memory.facts import Fact
from services.operations.memory.facts import (
    CURRENT,
    EVERY,
    THEN,
    Entry,
    RememberedFact,
    current,
    history,
    in_order,
    recorded,
    refusals,
    with_provenance,
)
from services.operations.memory.outcomes import became
from services.operations.memory.past import as_of
from services.operations.memory.search import find
from services.operations.requests import NotDecidedYet, ask
from services.web.bodies import Correction, NewFact, Outcome
from services.web.named import ByQuery, Who, person
from services.web.refusals import PENDING, WAIT_S

Limit = Annotated[int, Query(ge=1, le=100)]
Moment = Annotated[AwareDatetime, Query(description="with its offset: 2026-01-15T09:00:00Z")]


class FoundFact(BaseModel):
    """A fact that was found, and how well it fits."""

    fact: Fact
    score: float
    similarity: float | None


class Found(BaseModel):
    """What a search amounts to: the memory is sure, it rings a bell, or there is nothing.

    `gist` is what it seems to be about, noted within `since` (inclusive) and `until`; all None for nothing.
    """

    verdict: Verdict
    gist: str | None
    since: datetime | None
    until: datetime | None
    facts: list[FoundFact]


class Refusal(BaseModel):
    """A proposal or a request that did not hold."""

    at: datetime
    decision: str
    key: str
    value: str
    reason: str
    cause: UUID | None


def add_reads(router: APIRouter, app: App) -> None:
    """The reading half."""
    workspace = app.settings.workspace

    @router.get("/participants/{who}/facts")
    async def facts(
        who: Who, request: Request, response: Response, limit: Many = MOST, after: After = ""
    ) -> list[Entry]:
        """What is believed now, each fact with its sources and decisions."""
        one = await person(app, who)
        async with app.database.reading() as conn:
            every = in_order(await current(conn, workspace, one.participant_id, app.now()), CURRENT)
            page = linked(request, response, CURRENT.cut(every, after, limit))
            return await with_provenance(conn, workspace, one.participant_id, page)

    @router.get("/participants/{who}/facts/search")
    async def search(who: Who, q: Annotated[str, Query(min_length=1, max_length=2000)], limit: Limit = 20) -> Found:
        """Facts by meaning, as the agent would find them."""
        one = await person(app, who)
        answer = await find(app, one.participant_id, q, now=app.now(), limit=limit)
        told = [FoundFact(fact=hit.fact, score=hit.score, similarity=hit.similarity) for hit in answer.hits]
        window = answer.recall.window
        return Found(
            verdict=answer.recall.cue.verdict,
            gist=answer.recall.gist,
            since=window.start if window else None,
            until=window.end if window else None,
            facts=told,
        )

    @router.get("/participants/{who}/facts/history")
    async def every(
        who: Who,
        request: Request,
        response: Response,
        key: Annotated[str, Query(max_length=80)] = "",
        limit: Many = MOST,
        after: After = "",
    ) -> list[Entry]:
        """Every fact there ever was, of one key where it is given."""
        one = await person(app, who)
        async with app.database.reading() as conn:
            known = in_order(await recorded(conn, workspace, one.participant_id, app.now(), key=key), EVERY)
            page = linked(request, response, EVERY.cut(known, after, limit))
            return await with_provenance(conn, workspace, one.participant_id, page)

    @router.get("/participants/{who}/facts/as-of")
    async def at_a_time(
        who: Who,
        request: Request,
        response: Response,
        at: Moment,
        known_at: Moment | None = None,
        limit: Many = MOST,
        after: After = "",
    ) -> list[RememberedFact]:
        """What was so at a time, as it was known at another (by default now)."""
        one = await person(app, who)
        async with app.database.reading() as conn:
            found = await as_of(
                conn,
                workspace,
                one.participant_id,
                valid_at=at,
                known_at=known_at or app.now(),
                rules=app.settings.learning.confidence,
            )
        return linked(request, response, THEN.cut(in_order(found, THEN), after, limit))

    @router.get("/participants/{who}/facts/{fact_id}")
    async def fact(who: Who, fact_id: UUID) -> Entry:
        """One fact of this participant."""
        one = await person(app, who)
        async with app.database.reading() as conn:
            found = await history(conn, workspace, one.participant_id, app.now(), fact_id=fact_id)
        if not found:
            raise RequestRefused(404, "fact_unknown", "this participant has no fact with this id")
        return found[0]

    @router.get("/participants/{who}/refusals")
    async def refused(
        who: Who, request: Request, response: Response, limit: Limit = 20, after: After = ""
    ) -> list[Refusal]:
        """Proposals and requests that did not hold, newest first."""
        one = await person(app, who)
        async with app.database.reading() as conn:
            rows = await refusals(conn, workspace, one.participant_id, limit=limit, after=after)
        return [Refusal.model_validate(row) for row in linked(request, response, rows)]


def add_requests(router: APIRouter, app: App) -> None:
    """The asking half: 200 with the decision, 409 where it was refused, 202 where it is not decided yet."""

    @router.post("/participants/{who}/facts", responses=PENDING)
    async def add(who: Who, body: NewFact, response: Response) -> Outcome:
        """Add a fact."""
        return await _requested(app, who, response, op="add", **body.model_dump())

    @router.put("/participants/{who}/facts/{fact_id}", responses=PENDING)
    async def correct(who: Who, fact_id: UUID, body: Correction, response: Response) -> Outcome:
        """Correct a fact: the wrong value was never so."""
        return await _requested(app, who, response, op="correct", fact_id=fact_id, **body.model_dump())

    @router.delete("/participants/{who}/facts/{fact_id}", responses=PENDING)
    async def forget(who: Who, fact_id: UUID, response: Response, by: ByQuery) -> Outcome:
        """Take a fact back."""
        return await _requested(app, who, response, op="forget", fact_id=fact_id, by=by)

    @router.put("/participants/{who}/facts/{fact_id}/pin", responses=PENDING)
    async def pin(who: Who, fact_id: UUID, response: Response, by: ByQuery) -> Outcome:
        """Pin a fact: it does not fade."""
        return await _requested(app, who, response, op="pin", fact_id=fact_id, by=by)

    @router.delete("/participants/{who}/facts/{fact_id}/pin", responses=PENDING)
    async def unpin(who: Who, fact_id: UUID, response: Response, by: ByQuery) -> Outcome:
        """Let a pinned fact fade again."""
        return await _requested(app, who, response, op="unpin", fact_id=fact_id, by=by)

    @router.delete("/participants/{who}/facts/{fact_id}/merge", responses=PENDING)
    async def unmerge(who: Who, fact_id: UUID, response: Response, by: ByQuery) -> Outcome:
        """Undo a merge."""
        return await _requested(app, who, response, op="unmerge", fact_id=fact_id, by=by)


async def _requested(app: App, who: str, response: Response, **given: Any) -> Outcome:
    one = await person(app, who)
    return await outcome(app, FactRequested.model_validate({"participant_id": one.participant_id, **given}), response)


async def outcome(app: App, command: FactRequested | ParticipantMergeRequested, response: Response) -> Outcome:
    """Ask, and say what became of it. Raises `RequestRefused` where learn_facts did not grant it."""
    id = (await ask(app, command)).id
    named = command.fact_id if isinstance(command, FactRequested) else None
    try:
        decided = await became(app, command.participant_id, id, fact_id=named, timeout_s=WAIT_S)
    except NotDecidedYet:
        response.status_code = 202
        return Outcome(request_id=id, status="pending")
    if decided.refused:
        raise RequestRefused(409, "refused", decided.reason)
    return Outcome(
        request_id=id, status="done", decision=decided.decision, fact_id=decided.fact_id, reason=decided.reason
    )
