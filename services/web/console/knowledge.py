"""What the agent may quote: documents, a search as the agent makes it, proposed articles, unanswered questions."""

from __future__ import annotations

from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import HTMLResponse

from schemas.events.documents import ArticleRequested, DocumentRemovalRequested, ProposalDecided
from services.core.errors import EmbedderDenied, EmbedderUnavailable, ModelRefused, ModelUnavailable
from services.core.ids import article_id, text_sha256
from services.core.web import RequestRefused
from services.core.web_paging import After
from services.operations.knowledge.listing import (
    find_passages,
    list_documents,
    list_proposals,
    list_unread,
    show_document,
)
from services.operations.knowledge.requests import DocumentTooLarge, DocumentUnknown, ask_about, decided, hand_in
from services.operations.knowledge.trial import LONGEST, InboxUnknown, try_answer
from services.operations.knowledge.unanswered import DAYS, UnansweredQuestions
from services.operations.requests import ask
from services.web.console.forms import checked
from services.web.console.language import translated
from services.web.console.shown import too_many
from services.web.console.site import Site, done, files_of, form_of, viewer
from services.web.knowledge_bodies import Accepted, Rejected, Tried, Wanted
from services.web.refusals import WAIT_S

LINES = 50  # documents of a page
UNREAD = 20
PROPOSED = 20
FOUND = 6  # as many passages as a prompt gets


def knowledge_pages(site: Site) -> APIRouter:
    """Reading, and what is asked of documents and proposed articles."""
    router = site.router()
    _add_unanswered(router, site)
    _add_trials(router, site)
    _add_reads(router, site)
    _add_documents(router, site)
    _add_articles(router, site)
    return router


def _add_trials(router: APIRouter, site: Site) -> None:
    app, pace = site.app, site.trials.questions

    def page(request: Request, status: int = 200, **about: Any) -> HTMLResponse:
        names = [one.name for one in app.settings.inboxes]
        known = {"inboxes": names, "rounds": app.settings.context.tool_rounds, "model": app.settings.model.model}
        empty = {"q": "", "inbox": names[0] if names else "", "tried": None, "wrong": ""}
        return site.page(request, "tried.html", status, **known, **empty | about)

    @router.get("/knowledge/try")
    async def form(request: Request, q: Annotated[str, Query(max_length=LONGEST)] = "") -> HTMLResponse:
        return page(request, q=q.strip())

    @router.post("/knowledge/try")
    async def tried(request: Request) -> HTMLResponse:
        given = form_of(request)
        inbox = given.get("inbox") or next((one.name for one in app.settings.inboxes), "")
        wanted = checked(Tried, question=given.get("q", ""), inbox=inbox)
        about: dict[str, Any] = {"q": wanted.question, "inbox": wanted.inbox}
        if wait := pace.takes(viewer(request)):
            return page(request, 429, **about, wrong=too_many(wait))
        try:
            about["tried"] = await try_answer(app, wanted.inbox, wanted.question)
        except InboxUnknown:
            return page(request, 404, **about, wrong=translated("There is no such inbox."))
        except (ModelUnavailable, TimeoutError):
            said = translated("The model does not answer now. Nothing was kept; try again later.")
            return page(request, 503, **about, wrong=said)
        except ModelRefused as error:
            said = translated("The model’s service refused the question: %(reason)s", reason=error)
            return page(request, 502, **about, wrong=said)
        except EmbedderUnavailable:
            said = translated("The embedding service does not answer, and no passage can be looked for without it.")
            return page(request, 503, **about, wrong=said)
        return page(request, **about)


def _add_reads(router: APIRouter, site: Site) -> None:
    app = site.app

    @router.get("/knowledge")
    async def knowledge(
        request: Request, q: Annotated[str, Query(max_length=2000)] = "", after: After = ""
    ) -> HTMLResponse:
        asked = q.strip()
        about: dict[str, Any] = {
            "q": asked,
            "after": after,
            "found": await find_passages(app, asked, limit=FOUND) if asked else [],
            "documents": await list_documents(app, limit=LINES, after=after),
            "unread": await list_unread(app, limit=UNREAD),
            "proposed": [(one, text_sha256(one.text)) for one in await list_proposals(app, limit=PROPOSED)],
            "most_mb": min(app.settings.knowledge.max_document_mb, app.settings.send.max_files_mb),
        }
        return site.page(request, "knowledge.html", **about)

    @router.get("/knowledge/{document_id}")
    async def document(request: Request, document_id: UUID) -> HTMLResponse:
        found = await show_document(app, document_id)
        if found is None:
            raise RequestRefused(404, "document_unknown", translated("There is no document with this id."))
        return site.page(request, "document.html", shown=found)


def _add_unanswered(router: APIRouter, site: Site) -> None:
    app, questions = site.app, UnansweredQuestions(site.app)

    @router.get("/knowledge/unanswered")
    async def unanswered(request: Request) -> HTMLResponse:
        try:
            found = await questions.read()
        except (EmbedderUnavailable, EmbedderDenied):
            said = translated(
                "The embedding service does not answer, and questions cannot be compared without it. Try again later."
            )
            raise RequestRefused(503, "embedder_away", said) from None
        return site.page(request, "unanswered.html", found=found, days=DAYS)

    @router.post("/knowledge/unanswered/propose")
    async def propose(request: Request) -> Response:
        form = form_of(request)
        wanted = checked(Wanted, thread_id=form.get("thread_id"), reply_id=form.get("reply_id"), by=viewer(request))
        if wanted.reply_id is None:
            raise RequestRefused(422, "invalid", translated("Choose an answer that the article is made of."))
        id = article_id(app.settings.workspace, wanted.thread_id, wanted.reply_id)
        command = ArticleRequested(document_id=id, **wanted.model_dump())
        return done("/knowledge", await _outcome(site, (await ask(site.app, command)).id, "article_proposed"))


def _add_documents(router: APIRouter, site: Site) -> None:
    app = site.app

    @router.post("/knowledge")
    async def add(request: Request) -> Response:
        files, by = files_of(request), viewer(request)
        if not files:
            said = translated("Choose a file: Markdown, HTML, PDF, DOCX or text.")
            raise RequestRefused(422, "invalid", said)
        became = "same"
        for one in files:
            try:
                name = one.filename
                handed = await hand_in(app, one.content, origin=name, title=name, by=by, media_type="")
            except DocumentTooLarge as error:
                raise RequestRefused(413, "too_large", f"{name}: {error}") from None
            if handed.command:
                became = await _outcome(site, handed.command, "added")
        return done("/knowledge", became)

    @router.post("/knowledge/{document_id}/remove")
    async def remove(request: Request, document_id: UUID) -> Response:
        wanted = DocumentRemovalRequested(document_id=document_id, by=viewer(request))
        return done("/knowledge", await _asked(site, wanted, "document_removed"))


def _add_articles(router: APIRouter, site: Site) -> None:
    @router.post("/knowledge/articles/{document_id}/accept")
    async def accept(request: Request, document_id: UUID) -> Response:
        form = form_of(request)
        text = "" if form.get("text", "").strip() == form.get("proposed", "").strip() else form.get("text", "")
        body = checked(Accepted, text_sha256=form.get("text_sha256", ""), text=text, by=viewer(request))
        said = body.model_dump(exclude={"link"})
        wanted = ProposalDecided(document_id=document_id, accept=True, public_url="", **said)
        return done("/knowledge", await _asked(site, wanted, "accepted"))

    @router.post("/knowledge/articles/{document_id}/reject")
    async def reject(request: Request, document_id: UUID) -> Response:
        form = form_of(request)
        given = {"text_sha256": form.get("text_sha256", ""), "reason": form.get("reason", "")}
        body = checked(Rejected, **given, by=viewer(request))
        wanted = ProposalDecided(document_id=document_id, accept=False, **body.model_dump())
        return done("/knowledge", await _asked(site, wanted, "article_rejected"))


async def _asked(site: Site, command: DocumentRemovalRequested | ProposalDecided, what: str) -> str:
    try:
        asked = await ask_about(site.app, command)
    except DocumentUnknown:
        raise RequestRefused(404, "document_unknown", translated("There is no document with this id.")) from None
    return await _outcome(site, asked, what)


async def _outcome(site: Site, command: UUID, what: str) -> str:
    """What the page says of a request: `what` once it is done. Raises `RequestRefused` where it was refused."""
    found = await decided(site.app, command, WAIT_S)
    if found is None:
        return "pending"
    if found and found[-1].decision == "refused":
        raise RequestRefused(409, "refused", translated("Not done: %(reason)s", reason=found[-1].detail))
    return what if found else "same"
