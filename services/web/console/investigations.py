"""Hard cases that the agent works on as files: asked for, watched round by round, stopped, and what each proposes."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Annotated, TypeVar
from uuid import UUID

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse

from services.core.web import RequestRefused
from services.core.web_paging import After
from services.operations.investigations import course, requests
from services.operations.investigations.listing import WholeInvestigation, clashes, list_investigations
from services.operations.requests import NotDecidedYet
from services.operations.threads.listing import ThreadUnknown
from services.web.bodies import NewInvestigation
from services.web.console.diffs import files_in
from services.web.console.forms import checked
from services.web.console.language import translated
from services.web.console.site import ROOT, Site, done, form_of, viewer
from services.web.refusals import WAIT_S

T = TypeVar("T")
LINES = 50  # a page
SHOWN = 20_000  # characters of a diff beside everything else
BRIEF = "memory/hot_context.md"  # the file that a proposed brief is a change of


def investigation_pages(site: Site) -> APIRouter:
    """The list, one of them, its rounds and files, and what a person does with it."""
    router, app = site.router(), site.app

    @router.get("/investigations")
    async def listed(request: Request, after: After = "") -> HTMLResponse:
        async with app.database.reading() as conn:
            page = await list_investigations(conn, app.settings.workspace, limit=LINES, after=after)
        enabled = app.settings.investigate.enabled
        return site.page(request, "investigations.html", lines=page, after=after, enabled=enabled)

    @router.get("/investigations/{investigation_id}")
    async def one(request: Request, investigation_id: UUID) -> HTMLResponse:
        return await _shown(site, request, await _known(requests.found(app, investigation_id)))

    @router.get("/investigations/{investigation_id}/diff")
    async def diff(request: Request, investigation_id: UUID) -> HTMLResponse:
        whole = await _known(requests.found(app, investigation_id))
        return site.page(request, "investigation_diff.html", one=whole.investigation, files=files_in(whole.diff))

    @router.get("/investigations/{investigation_id}/rounds/{number}")
    async def one_round(request: Request, investigation_id: UUID, number: int) -> HTMLResponse:
        whole = await _known(requests.found(app, investigation_id))
        rounds = (await _known(course.course_of(app, investigation_id))).rounds
        if not 1 <= number <= len(rounds):
            raise RequestRefused(404, "round_unknown", translated("It took no round of this number."))
        taken, last = rounds[number - 1], len(rounds)
        return site.page(request, "investigation_round.html", one=whole.investigation, taken=taken, last=last)

    @router.get("/investigations/{investigation_id}/file")
    async def file(
        request: Request, investigation_id: UUID, path: Annotated[str, Query(max_length=200)]
    ) -> HTMLResponse:
        whole = await _known(requests.found(app, investigation_id))
        found = await _known(course.file_of(app, investigation_id, path))
        return site.page(request, "investigation_file.html", one=whole.investigation, file=found)

    _add_acts(router, site)
    return router


def _add_acts(router: APIRouter, site: Site) -> None:
    app = site.app

    @router.post("/threads/{thread_id}/investigate")
    async def start(request: Request, thread_id: UUID) -> Response:
        wanted = checked(NewInvestigation, question=form_of(request).get("question", ""), by=viewer(request))
        try:
            begun = await requests.investigate(app, thread_id, wanted.question, wanted.by, timeout_s=WAIT_S)
        except ThreadUnknown as error:
            raise RequestRefused(404, "thread_unknown", str(error)) from None
        except requests.InvestigationImpossible as error:
            raise RequestRefused(
                409, "investigation_impossible", translated("Not begun: %(reason)s.", reason=error)
            ) from None
        except NotDecidedYet:
            return done(f"/threads/{thread_id}", "pending")
        return RedirectResponse(f"{ROOT}/investigations/{begun.investigation.investigation_id}", 303)

    @router.post("/investigations/{investigation_id}/stop")
    async def stop(request: Request, investigation_id: UUID) -> Response:
        await _known(requests.stop(app, investigation_id, viewer(request), timeout_s=WAIT_S))
        return done(f"/investigations/{investigation_id}", "investigation_stopped")

    @router.post("/investigations/{investigation_id}/proposals/{proposal_id}")
    async def decide(request: Request, investigation_id: UUID, proposal_id: UUID) -> Response:
        accept = form_of(request).get("op") == "accept"
        settled = await _known(requests.decide(app, proposal_id, viewer(request), accept=accept, timeout_s=WAIT_S))
        if settled.refused:
            whole = await _known(requests.found(app, investigation_id))
            return await _shown(
                site,
                request,
                whole,
                409,
                translated("Accepted, and not remembered: %(reason)s.", reason=settled.refused),
            )
        what = "proposal_accepted" if accept else "proposal_rejected"
        return done(f"/investigations/{investigation_id}", what, "proposals")


async def _shown(
    site: Site, request: Request, whole: WholeInvestigation, status: int = 200, wrong: str = ""
) -> HTMLResponse:
    """One of them; how it went is left out where that cannot be read any more."""
    how, unread = None, ""
    try:
        how = await course.course_of(site.app, whole.investigation.investigation_id)
    except course.CourseUnread as error:
        unread = str(error)
    files = files_in(whole.diff)
    about = {
        "whole": whole,
        "how": how,
        "unread": unread,
        "most": site.app.settings.investigate.rounds,
        "files": files_in(whole.diff[:SHOWN]),
        "cut": len(whole.diff) > SHOWN,
        "brief_diff": next((one for one in files if one.path == BRIEF), None),
        "clashes": [(one.path, list(clashes(one.text))) for one in whole.standing],
        "priced": any(site.app.settings.model.prices.model_dump().values()),
        "wrong": wrong,
    }
    return site.page(request, "investigation.html", status, **about)


async def _known(asked: Awaitable[T]) -> T:
    try:
        return await asked
    except requests.InvestigationUnknown:
        raise RequestRefused(
            404, "investigation_unknown", translated("There is no investigation with this id.")
        ) from None
    except requests.ProposalUnknown:
        raise RequestRefused(404, "proposal_unknown", translated("No investigation proposes that.")) from None
    except requests.DecidedBefore as error:
        raise RequestRefused(409, "decided_before", translated("Not done: %(reason)s.", reason=error)) from None
    except course.CourseUnread as error:
        raise RequestRefused(
            404, "course_unread", translated("This cannot be read any more: %(reason)s.", reason=error)
        ) from None
    except course.FileUnknown:
        raise RequestRefused(404, "file_unknown", translated("The folder has no such file.")) from None
