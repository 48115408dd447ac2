"""A person answers on the page: writes a reply or has it drafted, takes it back, takes the thread over, assigns it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from fastapi import APIRouter, Request, Response

from schemas.events.answers import AssignmentRequested
from services.core.clock import random_id
from services.core.web import RequestRefused
from services.operations.drafts.decisions import FilesTooLarge
from services.operations.threads import answers
from services.operations.threads.answers import Came, NewReply, ReplyDoesNotFit, ReplyImpossible
from services.operations.threads.listing import ThreadUnknown
from services.operations.threads.suggestions import Suggestion, SuggestionImpossible, suggest
from services.web.bodies import Assignment, OwnWords, SuggestionRequest
from services.web.console.forms import Form, checked
from services.web.console.language import translated
from services.web.console.site import Site, done, files_of, form_of, viewer
from services.web.console.thread import asked_of_agent, beginnings_of, show_thread
from services.web.refusals import WAIT_S

HOLD_S = 10.0  # in which a reply can be taken back


@dataclass(frozen=True, slots=True)
class Unsent:
    """A reply that is not sent: what the person wrote, why not, and what came that they had not seen."""

    form: Form
    reason: str = ""
    came: tuple[Came, ...] = ()


def answer_acts(site: Site) -> APIRouter:
    """What the forms of a thread's page send."""
    router = site.router()
    _add_reply(router, site)
    _add_beginnings(router, site)
    _add_suggestions(router, site)
    _add_assignment(router, site)
    return router


def _add_reply(router: APIRouter, site: Site) -> None:
    app = site.app

    @router.post("/threads/{thread_id}/reply")
    async def reply(request: Request, thread_id: UUID) -> Response:
        form = form_of(request)
        try:
            words = _words(form, viewer(request))
            new = NewReply(**words.model_dump(exclude={"id", "files"}), files=files_of(request))
            await answers.reply(app, thread_id, words.id, new, timeout_s=WAIT_S)
        except ThreadUnknown as error:
            raise RequestRefused(404, "thread_unknown", str(error)) from None
        except ReplyDoesNotFit as error:
            unsent = Unsent(form, error.reason, error.came)
        except (ReplyImpossible, FilesTooLarge, RequestRefused) as error:
            unsent = Unsent(form, str(error))
        else:
            return done(f"/threads/{thread_id}", "replied", "answer")
        return await show_thread(site, request, thread_id, status=409, unsent=unsent)

    @router.post("/threads/{thread_id}/replies/{reply_id}/cancel")
    async def cancel(request: Request, thread_id: UUID, reply_id: UUID) -> Response:
        try:
            await answers.cancel(app, thread_id, reply_id, viewer(request), timeout_s=WAIT_S)
        except answers.ReplyUnknown as error:
            raise RequestRefused(404, "reply_unknown", str(error)) from None
        except answers.TooLate as error:
            raise RequestRefused(409, "too_late", translated("Not taken back: %(reason)s.", reason=error)) from None
        return done(f"/threads/{thread_id}", "taken_back")


def _add_beginnings(router: APIRouter, site: Site) -> None:
    @router.post("/threads/{thread_id}/compose")
    async def compose(request: Request, thread_id: UUID) -> Response:
        """The page again, with a canned answer or what the agent wrote behind what was written, or in its place."""
        form, begin = form_of(request), form_of(request).get("begin", "")
        beginnings = await beginnings_of(site, request, thread_id)
        if begin in ("drafted", "instead"):
            drafted = await asked_of_agent(site, thread_id, form)
            text, form = drafted.text if drafted else "", form | {"suggestion": ""}
        else:
            canned = beginnings.canned.get(form.get("canned", ""), "")
            text = beginnings.suggestion if begin == "suggestion" else canned
        if not text:
            said = translated("Nothing was added: there is no such text any more.")
            raise RequestRefused(409, "beginning_unknown", said)
        written = "" if begin == "instead" else form.get("text", "").rstrip()
        whole = "\n\n".join(one for one in (written, text.strip()) if one)
        return await show_thread(site, request, thread_id, unsent=Unsent(form | {"text": whole}))


def _add_suggestions(router: APIRouter, site: Site) -> None:
    @router.post("/threads/{thread_id}/suggest")
    async def ask(request: Request, thread_id: UUID) -> Response:
        """The page again, with what was written, and where the agent's draft stands."""
        form = form_of(request)
        if form.get("ask") != "look":
            try:
                asked = await _asked(site, request, thread_id, form)
            except (SuggestionImpossible, RequestRefused) as error:
                unsent = Unsent(form | {"suggestion": ""}, str(error))
                return await show_thread(site, request, thread_id, status=409, unsent=unsent)
            form |= {"suggestion": str(asked.suggestion_id)}
        return await show_thread(site, request, thread_id, unsent=Unsent(form))

    @router.get("/threads/{thread_id}/suggestions/{suggestion_id}")
    async def stands(request: Request, thread_id: UUID, suggestion_id: UUID) -> Response:
        """What stands in the answer's form of it, alone."""
        found = await asked_of_agent(site, thread_id, {"suggestion": str(suggestion_id)})
        if found is None:
            raise RequestRefused(404, "suggestion_unknown", translated("There is no such draft."))
        return site.page(request, "suggestion.html", drafted=found)


async def _asked(site: Site, request: Request, thread_id: UUID, form: Form) -> Suggestion:
    """Ask the agent. Raises `RequestRefused`, `SuggestionImpossible`."""
    words = form.get("text", "") if form.get("ask") == "improve" else ""
    asked = checked(SuggestionRequest, words=words, by=viewer(request))
    if form.get("ask") == "improve" and not asked.words:
        said = translated("There are no words of yours yet: write some, or have the agent draft it")
        raise RequestRefused(422, "invalid", said)
    try:
        return await suggest(site.app, thread_id, asked.by, asked.words, timeout_s=WAIT_S)
    except ThreadUnknown as error:
        raise RequestRefused(404, "thread_unknown", str(error)) from None


def _add_assignment(router: APIRouter, site: Site) -> None:
    async def assigned(request: Request, thread_id: UUID, what: str, **given: Any) -> Response:
        form = form_of(request)
        wanted = checked(Assignment, **given, reason=form.get("reason", ""), by=viewer(request))
        try:
            asked = AssignmentRequested(thread_id=thread_id, **wanted.model_dump())
            await answers.assign(site.app, asked, timeout_s=WAIT_S)
        except ThreadUnknown as error:
            raise RequestRefused(404, "thread_unknown", str(error)) from None
        return done(f"/threads/{thread_id}", what)

    @router.post("/threads/{thread_id}/take")
    async def take(request: Request, thread_id: UUID) -> Response:
        return await assigned(request, thread_id, "taken", assignee=viewer(request), take_over=True)

    @router.post("/threads/{thread_id}/assign")
    async def assign(request: Request, thread_id: UUID) -> Response:
        return await assigned(request, thread_id, "assigned", assignee=form_of(request).get("assignee", ""))


def _words(form: Form, by: str) -> OwnWords:
    """What the form says, as the API takes it."""
    copies = [one.strip() for one in form.get("cc", "").split(",")]
    given = {
        "id": form.get("id") or str(random_id()),
        "text": form.get("text", ""),
        "thread_version": form.get("thread_version", ""),
        "cc": tuple(one for one in copies if one) or None,
        "with_quote": bool(form.get("with_quote")),
        "then": form.get("then", ""),
        "hold_s": HOLD_S,
        "by": by,
    }
    return checked(OwnWords, **given)
