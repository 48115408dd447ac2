"""`/api/documents` and `/api/articles`: what the agent may quote, handed in, read, removed, accepted."""

from __future__ import annotations

from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Query, Request, Response
from pydantic import AwareDatetime

from schemas.events.documents import ArticleRequested, DocumentRemovalRequested, ProposalDecided
from services.core.app import App
from services.core.errors import ModelRefused, ModelUnavailable
from services.core.ids import article_id, text_sha256
from services.core.paging import MOST
from services.core.settings.memory import DEFAULT_SPACE
from services.core.units import MB
from services.core.web import RequestRefused, body_within
from services.core.web_paging import After, Limit, linked
from services.memory.knowledge import Passage
from services.operations.knowledge.listing import (
    Document,
    Proposal,
    Shown,
    Unread,
    find_passages,
    last_answer,
    list_documents,
    list_proposals,
    list_unread,
    proposal,
    show_document,
)
from services.operations.knowledge.pages import FetchRefused, fetch
from services.operations.knowledge.requests import (
    DocumentTooLarge,
    DocumentUnknown,
    SpaceUnknown,
    ask_about,
    decided,
    hand_in,
)
from services.operations.knowledge.trial import TRIALS_PER_MINUTE, InboxUnknown, TriedAnswer, try_answer
from services.operations.knowledge.unanswered import UnansweredList, UnansweredQuestions
from services.operations.requests import ask
from services.operations.trials import Trials
from services.web.caller import name_of_caller
from services.web.knowledge_bodies import (
    Accepted,
    Article,
    Asked,
    DocumentOutcome,
    LinkQuery,
    Origin,
    Page,
    Rejected,
    SearchedSpace,
    SpaceQuery,
    Title,
    Tried,
    Wanted,
)
from services.web.named import ByQuery
from services.web.refusals import PENDING

WAIT_S = 10.0  # how long a request waits for learn_documents' decision
BODY_DEADLINE_S = 60.0

ANY_BODY = {
    "requestBody": {
        "required": True,
        "description": "The document's bytes: Markdown, HTML, PDF, DOCX or text.",
        "content": {"*/*": {"schema": {"type": "string", "format": "binary"}}},
    }
}


def add_documents(router: APIRouter, app: App) -> None:
    """Reading and handing in."""

    @router.get("/documents")
    async def documents(
        request: Request, response: Response, removed: bool = False, limit: Limit = MOST, after: After = ""
    ) -> list[Document]:
        """The documents by title, each with its edition, its passages and how often it was cited."""
        return linked(request, response, await list_documents(app, removed=removed, limit=limit, after=after))

    @router.get("/documents/unread")
    async def unread(request: Request, response: Response, limit: Limit = MOST, after: After = "") -> list[Unread]:
        """What was handed in and could not be read, with the reason."""
        return linked(request, response, await list_unread(app, limit=limit, after=after))

    @router.get("/documents/search")
    async def search(
        q: Asked,
        limit: Annotated[int, Query(ge=1, le=50)] = 6,
        as_of: AwareDatetime | None = None,
        space: SearchedSpace = None,
    ) -> list[Passage]:
        """Passages by words and meaning, as the agent finds them; with `as_of`, as it would have then."""
        return await find_passages(app, q, limit=limit, space=space, as_of=as_of)

    @router.put("/documents", openapi_extra=ANY_BODY, responses=PENDING)
    async def put(
        request: Request,
        response: Response,
        origin: Origin,
        by: ByQuery,
        title: Title = "",
        link: LinkQuery = "",
        sendable: bool = False,
        space: SpaceQuery = DEFAULT_SPACE,
    ) -> DocumentOutcome:
        """Hand a document in, or a new edition of it; its content says what it is. The same again changes nothing."""
        limit = int(app.settings.knowledge.max_document_mb * MB)
        content = await body_within(request, limit, BODY_DEADLINE_S)
        kind = request.headers.get("content-type", "").partition(";")[0].strip()[:100]
        marks = {"sendable": sendable, "space": space}
        return await _hand_in(app, response, content, origin, title or origin, by, kind, link, **marks)

    @router.post("/documents/fetch", responses=PENDING)
    async def fetch_page(page: Page, response: Response) -> DocumentOutcome:
        """Fetch a web page and hand it in."""
        try:
            found = await fetch(page.address, app.settings.knowledge)
        except FetchRefused as error:
            raise RequestRefused(422, "fetch_refused", f"{page.address} {error}") from None
        given = (page.address, page.address, page.by, found.media_type, page.link)
        return await _hand_in(app, response, found.content, *given, space=page.space)

    @router.get("/documents/{document_id}")
    async def document(document_id: UUID, past: bool = False) -> Shown:
        """A document with its passages (with `past` those of older editions), its log, and where it was cited."""
        found = await show_document(app, document_id, past=past)
        if found is None:
            raise RequestRefused(404, "document_unknown", "there is no document with this id")
        return found

    @router.delete("/documents/{document_id}", responses=PENDING)
    async def remove(
        document_id: UUID, response: Response, by: ByQuery, reason: Annotated[str, Query(max_length=500)] = ""
    ) -> DocumentOutcome:
        """Take a document out of what is found; its editions stay for their time."""
        return await _request(app, response, DocumentRemovalRequested(document_id=document_id, reason=reason, by=by))


def add_questions(router: APIRouter, app: App) -> None:
    """What was asked and is in no document. Before `add_documents`: its addresses end with any id."""
    questions = UnansweredQuestions(app)

    @router.get("/documents/unanswered")
    async def unanswered(limit: Annotated[int, Query(ge=1, le=200)] = 50) -> UnansweredList:
        """Questions that the knowledge base did not answer, in groups that ask the same, those of most people first."""
        return await questions.read(limit=limit)


def add_trials(router: APIRouter, app: App, trials: Trials) -> None:
    """Asking the model what it would answer, without a mail."""

    @router.post("/documents/trials")
    async def tried(wanted: Tried) -> TriedAnswer:
        """What the agent of an inbox would answer to a question, with what it rests on and what asking cost; no mail is
        stored, and nothing is sent. 503 where the model or the embedding service is away.
        """
        if wait := trials.questions.takes(name_of_caller()):
            raise RequestRefused(429, "too_many", f"at most {TRIALS_PER_MINUTE} a minute: wait {wait:.0f} s")
        try:
            return await try_answer(app, wanted.inbox, wanted.question)
        except InboxUnknown as error:
            raise RequestRefused(404, "inbox_unknown", str(error)) from None
        except (ModelUnavailable, ModelRefused, TimeoutError) as error:
            raise RequestRefused(503, "model_away", str(error) or "the model took too long") from None


def add_articles(router: APIRouter, app: App) -> None:
    """Articles that were proposed; a person accepts them, or nobody does."""

    @router.get("/articles")
    async def articles(
        request: Request,
        response: Response,
        state: Annotated[str, Query(pattern="^(proposed|accepted|rejected|)$")] = "proposed",
        limit: Limit = MOST,
        after: After = "",
    ) -> list[Article]:
        """Proposed articles, the oldest first; an empty state means all of them."""
        found = await list_proposals(app, state, limit=limit, after=after)
        return [_article(one) for one in linked(request, response, found)]

    @router.post("/articles", responses=PENDING)
    async def propose(wanted: Wanted, response: Response) -> DocumentOutcome:
        """Ask for an article from an answer in a thread, the last one where none is named."""
        reply = wanted.reply_id or await last_answer(app, wanted.thread_id)
        if reply is None:
            raise RequestRefused(404, "answer_unknown", "nothing was answered in such a thread")
        id = article_id(app.settings.workspace, wanted.thread_id, reply)
        command = ArticleRequested(document_id=id, thread_id=wanted.thread_id, reply_id=reply, by=wanted.by)
        return await _outcome(app, response, id, (await ask(app, command)).id)

    @router.get("/articles/{document_id}")
    async def article(document_id: UUID) -> Article:
        """One article."""
        found = await proposal(app, document_id)
        if found is None:
            raise RequestRefused(404, "article_unknown", "there is no article with this id")
        return _article(found)

    @router.post("/articles/{document_id}/accept", responses=PENDING)
    async def accept(document_id: UUID, body: Accepted, response: Response) -> DocumentOutcome:
        """Take an article into the knowledge base."""
        return await _decide(app, response, document_id, accept=True, public_url=body.link, body=body)

    @router.post("/articles/{document_id}/reject", responses=PENDING)
    async def reject(document_id: UUID, body: Rejected, response: Response) -> DocumentOutcome:
        """Do not take it; it is not proposed again."""
        return await _decide(app, response, document_id, accept=False, body=body)


def _article(one: Proposal) -> Article:
    return Article(article=one, text_sha256=text_sha256(one.text))


async def _decide(
    app: App, response: Response, document_id: UUID, *, body: Accepted | Rejected, **given: Any
) -> DocumentOutcome:
    fields = body.model_dump(exclude={"link"})
    return await _request(app, response, ProposalDecided(document_id=document_id, **fields, **given))


async def _hand_in(
    app: App,
    response: Response,
    content: bytes,
    origin: str,
    title: str,
    by: str,
    kind: str,
    link: str,
    **marks: Any,
) -> DocumentOutcome:
    said: dict[str, Any] = {"by": by, "media_type": kind, "public_url": link, **marks}
    try:
        handed = await hand_in(app, content, origin=origin, title=title, **said)
    except DocumentTooLarge as error:
        raise RequestRefused(413, "too_large", str(error)) from None
    except SpaceUnknown as error:
        raise RequestRefused(422, "space_unknown", str(error)) from None
    if handed.command is None:
        return DocumentOutcome(document_id=handed.document_id, request_id=None, status="unchanged")
    return await _outcome(app, response, handed.document_id, handed.command)


async def _request(
    app: App, response: Response, command: DocumentRemovalRequested | ProposalDecided
) -> DocumentOutcome:
    try:
        asked = await ask_about(app, command)
    except DocumentUnknown as error:
        raise RequestRefused(404, "document_unknown", str(error)) from None
    return await _outcome(app, response, command.document_id, asked)


async def _outcome(app: App, response: Response, document_id: UUID, command: UUID) -> DocumentOutcome:
    """200 with the decision, 409 where it was refused, 202 where it is not decided yet."""
    found = await decided(app, command, WAIT_S)
    if found is None:
        response.status_code = 202
        return DocumentOutcome(document_id=document_id, request_id=command, status="pending")
    if not found:
        return DocumentOutcome(document_id=document_id, request_id=command, status="unchanged")
    last = found[-1]
    if last.decision == "refused":
        raise RequestRefused(409, "refused", last.detail)
    return DocumentOutcome(
        document_id=document_id, request_id=command, status="done", decision=last.decision, reason=last.detail
    )
