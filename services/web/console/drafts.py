"""Drafts that wait for a person: one after the other, as each would leave; approved, in other words, or rejected."""

from __future__ import annotations

from uuid import UUID

from fastapi import APIRouter, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse

from services.core.web import RequestRefused
from services.core.web_paging import After
from services.operations.drafts.listing import HeldDraft, held_draft, past_draft, waiting_drafts
from services.operations.threads.inbox import lines_of
from services.operations.threads.listing import whole_thread
from services.operations.threads.mails import mails_of
from services.web.bodies import Approval, Rejection
from services.web.console.forms import Files, Form, checked
from services.web.console.language import translated
from services.web.console.sentences import sentences_of
from services.web.console.site import ROOT, Site, done, files_of, form_of, viewer
from services.web.drafts import decide_draft

LINES = 50  # a page
NOT_SENT = ("discarded", "failed")  # what may become of an approved draft all the same
BEFORE = 6  # messages that are shown next to a draft


def draft_pages(site: Site) -> APIRouter:
    """Reading, and deciding."""
    router, app = site.router(), site.app
    workspace = app.settings.workspace

    @router.get("/drafts")
    async def drafts(request: Request, after: After = "") -> HTMLResponse:
        async with app.database.reading() as conn:
            page = await waiting_drafts(conn, workspace, limit=LINES, after=after)
        return site.page(request, "drafts.html", drafts=page, after=after)

    @router.get("/drafts/next")
    async def following(request: Request, done: str = "") -> Response:
        async with app.database.reading() as conn:
            page = await waiting_drafts(conn, workspace, limit=1)
        where = f"/drafts/{page[0].reply_id}" if page else "/drafts"
        return RedirectResponse(f"{ROOT}{where}{'?done=' + done if done in ('approved', 'rejected') else ''}", 303)

    @router.get("/drafts/{reply_id}")
    async def draft(request: Request, reply_id: UUID) -> HTMLResponse:
        async with app.database.reading() as conn:
            held = await held_draft(conn, workspace, reply_id)
        if held is None:
            return await _gone(site, request, reply_id, {})
        return await _show(site, request, held, {})

    @router.post("/drafts/{reply_id}/approve")
    async def approve(request: Request, reply_id: UUID) -> Response:
        form = form_of(request)
        text = form.get("text", "").strip()
        same = text == form.get("draft", "").strip()
        body = checked(
            Approval,
            text_sha256=form.get("text_sha256", ""),
            thread_version=form.get("thread_version", ""),
            text=None if same else text,
            by=viewer(request),
        )
        bound = body.model_dump(include={"text_sha256", "thread_version", "by"})
        return await _decided(site, request, reply_id, files_of(request), approve=True, text=body.text or "", **bound)

    @router.post("/drafts/{reply_id}/reject")
    async def reject(request: Request, reply_id: UUID) -> Response:
        form = form_of(request)
        why = ": ".join(one for one in (form.get("code", ""), form.get("reason", "").strip()) if one)
        body = checked(Rejection, reason=why, by=viewer(request))
        seen = {"text_sha256": form.get("text_sha256", ""), "thread_version": form.get("thread_version", "")}
        seen = checked(Approval, **seen).model_dump(include={"text_sha256", "thread_version"})
        return await _decided(site, request, reply_id, (), approve=False, reason=body.reason, by=body.by, **seen)

    return router


async def _decided(site: Site, request: Request, reply_id: UUID, files: Files, **word: object) -> Response:
    """Say it; where it had no effect, show what came meanwhile, and keep what the person wrote."""
    form, workspace = form_of(request), site.app.settings.workspace
    try:
        became = await decide_draft(site.app, reply_id, files, **word)
    except RequestRefused as error:
        if error.status not in (404, 409):
            raise
        async with site.app.database.reading() as conn:
            held = await held_draft(conn, workspace, reply_id)
        if held is None:
            return await _gone(site, request, reply_id, form)
        return await _show(site, request, held, form)
    if word["approve"] and became.state in NOT_SENT:
        return await _gone(site, request, reply_id, form)
    what = "approved" if word["approve"] else "rejected"
    if form.get("next"):
        return RedirectResponse(f"{ROOT}/drafts/next?done={what}", 303)
    async with site.app.database.reading() as conn:
        past = await past_draft(conn, workspace, reply_id)
    return done(f"/threads/{past.thread_id}" if past else "/drafts", what)


async def _show(site: Site, request: Request, held: HeldDraft, form: Form) -> HTMLResponse:
    """A draft with the end of its conversation; `form` is what was sent of it and could not be done."""
    app, workspace = site.app, site.app.settings.workspace
    async with app.database.reading() as conn:
        whole = await whole_thread(conn, workspace, held.thread_id, limit=BEFORE)
        mails = await mails_of(conn, workspace, [one.mail_id for one in whole.conversation if one.mail_id])
        sentences = await sentences_of(site, conn, held)
    about = {"draft": held, "whole": whole, "mails": mails, "kept": form, "sentences": sentences}
    return site.page(request, "draft.html", 409 if form else 200, **about)


async def _gone(site: Site, request: Request, reply_id: UUID, form: Form) -> HTMLResponse:
    """What became of a draft that waits no more, what came since, and the draft that waits in its place."""
    app, workspace = site.app, site.app.settings.workspace
    async with app.database.reading() as conn:
        past = await past_draft(conn, workspace, reply_id)
        if past is None:
            raise RequestRefused(404, "draft_unknown", translated("There is no draft with this id."))
        whole = await whole_thread(conn, workspace, past.thread_id, limit=BEFORE)
        (line,) = (await lines_of(conn, workspace, [past.thread_id])).values()
        newer = await held_draft(conn, workspace, line.draft) if line.draft else None
        mails = await mails_of(conn, workspace, [one.mail_id for one in whole.conversation if one.mail_id])
    about = {"past": past, "whole": whole, "mails": mails, "newer": newer, "kept": form}
    return site.page(request, "draft_gone.html", 409 if form else 200, **about)
