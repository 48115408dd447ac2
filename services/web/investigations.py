"""Investigations over HTTP: asking for one, what came of it, and deciding what it proposes."""

from __future__ import annotations

from uuid import UUID

from fastapi import APIRouter, Request, Response

from services.core.app import App
from services.core.web import RequestRefused
from services.core.web_paging import After, Limit, linked
from services.operations.investigations import requests
from services.operations.investigations.listing import InvestigationLine, WholeInvestigation, list_investigations
from services.operations.threads.listing import ThreadUnknown
from services.web.bodies import NewInvestigation, ProposalDecision
from services.web.by import ByQuery
from services.web.patience import WAIT_S


def add_investigations(router: APIRouter, app: App) -> None:
    """Reading, asking, stopping and deciding."""
    _add_reads(router, app)
    _add_requests(router, app)


def _add_requests(router: APIRouter, app: App) -> None:

    @router.post("/threads/{thread_id}/investigations")
    async def start(thread_id: UUID, body: NewInvestigation) -> WholeInvestigation:
        """Have the agent investigate a hard case; it goes on by itself and ends with a note on the thread."""
        try:
            return await requests.investigate(app, thread_id, body.question, body.by, timeout_s=WAIT_S)
        except ThreadUnknown as error:
            raise RequestRefused(404, "thread_unknown", str(error)) from None
        except requests.InvestigationImpossible as error:
            raise RequestRefused(409, "investigation_impossible", str(error)) from None

    @router.delete("/investigations/{investigation_id}")
    async def stop(investigation_id: UUID, by: ByQuery) -> WholeInvestigation:
        """Have it take no further round; what it wrote by then is kept."""
        try:
            return await requests.stop(app, investigation_id, by, timeout_s=WAIT_S)
        except requests.InvestigationUnknown as error:
            raise RequestRefused(404, "investigation_unknown", str(error)) from None

    @router.put("/investigations/proposals/{proposal_id}")
    async def decide(proposal_id: UUID, body: ProposalDecision) -> requests.Settled:
        """Accept a proposal, which makes it your own change of memory, or reject it."""
        try:
            return await requests.decide(app, proposal_id, body.by, accept=body.accept, timeout_s=WAIT_S)
        except requests.ProposalUnknown as error:
            raise RequestRefused(404, "proposal_unknown", str(error)) from None
        except requests.DecidedBefore as error:
            raise RequestRefused(409, "decided_before", str(error)) from None


def _add_reads(router: APIRouter, app: App) -> None:
    @router.get("/investigations")
    async def listed(
        request: Request, response: Response, thread: UUID | None = None, limit: Limit = 50, after: After = ""
    ) -> list[InvestigationLine]:
        """Investigations, the latest first; of one thread, where it is given."""
        async with app.database.reading() as conn:
            workspace = app.settings.workspace
            page = await list_investigations(conn, workspace, thread_id=thread, limit=limit, after=after)
        return linked(request, response, page)

    @router.get("/investigations/{investigation_id}")
    async def one(investigation_id: UUID) -> WholeInvestigation:
        """An investigation with its note, the diff of its folder, and what it proposes."""
        try:
            return await requests.found(app, investigation_id)
        except requests.InvestigationUnknown as error:
            raise RequestRefused(404, "investigation_unknown", str(error)) from None
