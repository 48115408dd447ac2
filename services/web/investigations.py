"""Investigations over HTTP: asking for one, what came of it, and deciding what it proposes."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Annotated, TypeVar
from uuid import UUID

from fastapi import APIRouter, Query, Request, Response

from services.core.app import App
from services.core.web import RequestRefused
from services.core.web_paging import After, Limit, linked
from services.operations.investigations import requests
from services.operations.investigations.course import Course, CourseUnread, FileText, FileUnknown, course_of, file_of
from services.operations.investigations.listing import InvestigationLine, WholeInvestigation, list_investigations
from services.operations.threads.listing import ThreadUnknown
from services.web.bodies import NewInvestigation, ProposalDecision
from services.web.named import ByQuery
from services.web.refusals import WAIT_S

T = TypeVar("T")


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

    @router.get("/investigations/{investigation_id}/rounds")
    async def rounds(investigation_id: UUID) -> Course:
        """How it went so far: each round with its calls and their answers, the files, tokens and money."""
        return await _read(course_of(app, investigation_id))

    @router.get("/investigations/{investigation_id}/file")
    async def file(investigation_id: UUID, path: Annotated[str, Query(max_length=200)]) -> FileText:
        """A file of its folder, as it was found and as the rounds left it."""
        return await _read(file_of(app, investigation_id, path))

    @router.get("/investigations/{investigation_id}")
    async def one(investigation_id: UUID) -> WholeInvestigation:
        """An investigation with its note, the diff of its folder, and what it proposes."""
        return await _read(requests.found(app, investigation_id))


async def _read(asked: Awaitable[T]) -> T:
    try:
        return await asked
    except requests.InvestigationUnknown as error:
        raise RequestRefused(404, "investigation_unknown", str(error)) from None
    except CourseUnread as error:
        raise RequestRefused(404, "course_unread", str(error)) from None
    except FileUnknown as error:
        raise RequestRefused(404, "file_unknown", str(error)) from None
