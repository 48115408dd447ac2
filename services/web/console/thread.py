"""One thread: the conversation, how it came to stand as it does, and what a person may do with it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol
from uuid import UUID

from fastapi import APIRouter, Request, Response
from fastapi.responses import HTMLResponse, JSONResponse

from services.core.archive.archive import archive_of
from services.core.clock import random_id
from services.core.db import Connection
from services.core.web import RequestRefused
from services.core.web_paging import After
from services.operations.drafts.listing import held_draft
from services.operations.investigations.listing import list_investigations
from services.operations.threads import requests
from services.operations.threads.answers import held_replies
from services.operations.threads.canned import canned_answers, offered_suggestion
from services.operations.threads.changes import note_writing, writing
from services.operations.threads.course import courses
from services.operations.threads.inbox import InboxLine, lines_of
from services.operations.threads.listing import Note, ThreadUnknown, WholeThread, whole_thread
from services.operations.threads.mails import mails_of
from services.operations.threads.suggestions import Suggestion, SuggestionUnknown, suggestion
from services.operations.thumbs import REASONS, thumbs_of
from services.operations.users import list_users
from services.operations.users.teams import list_teams
from services.web.bodies import NewNote, StepCommand
from services.web.console.forms import Form, checked
from services.web.console.language import Message, translated
from services.web.console.sentences import sentences_of
from services.web.console.shown import STATES, line
from services.web.console.site import Site, done, form_of, user_in, viewer
from services.web.console.snooze import MOMENTS
from services.web.refusals import WAIT_S

MESSAGES = 100  # a page of a conversation
INVESTIGATIONS = 5  # of a thread, the latest
STEPS = {
    "in_progress": (Message("Hand to the agent"), Message("The agent takes it up, and answers what waits.")),
    "escalated": (Message("Escalate to a person"), Message("The agent answers nothing until a person hands it back.")),
    "resolved": (Message("Resolve"), Message("Nothing is left to do. A new mail of the customer opens it again.")),
    "closed": (Message("Close"), Message("It is over. A new mail begins a new thread, linked to this one.")),
    "awaiting_reply": (Message("Wait for the customer"), Message("The next word is theirs.")),
    "new": (Message("Open again"), Message("As if it had just come.")),
}


def thread_pages(site: Site) -> APIRouter:
    """Reading, and acting."""
    router, app = site.router(), site.app

    @router.get("/threads/{thread_id}")
    async def thread(request: Request, thread_id: UUID, after: After = "") -> HTMLResponse:
        return await show_thread(site, request, thread_id, after=after)

    @router.post("/threads/{thread_id}/move")
    async def move(request: Request, thread_id: UUID) -> Response:
        form = form_of(request)
        wanted = checked(StepCommand, to=form.get("to"), reason=form.get("reason", ""), by=viewer(request))
        try:
            made = await requests.move(app, thread_id, wanted.to, wanted.reason, wanted.by, timeout_s=WAIT_S)
        except ThreadUnknown as error:
            raise RequestRefused(404, "thread_unknown", str(error)) from None
        if made.refused:
            raise RequestRefused(409, "step_refused", translated("Not done: %(reason)s.", reason=made.refused))
        return done(f"/threads/{thread_id}", "moved")

    @router.post("/threads/{thread_id}/notes")
    async def note(request: Request, thread_id: UUID) -> Response:
        wanted = checked(NewNote, text=form_of(request).get("text", ""), by=viewer(request))
        try:
            await requests.mark(app, thread_id, timeout_s=WAIT_S, note=wanted.text, by=wanted.by)
        except ThreadUnknown as error:
            raise RequestRefused(404, "thread_unknown", str(error)) from None
        return done(f"/threads/{thread_id}", "noted", "notes")

    @router.get("/threads/{thread_id}/writing")
    async def presence(request: Request, thread_id: UUID, mine: bool = False) -> JSONResponse:
        """Who else writes here. With `mine` the viewer says that they do: this is kept for seconds, and is no act."""
        name = viewer(request)
        if mine and user_in(request).may("agent"):
            await note_writing(app, thread_id, name)
        return JSONResponse({"names": [line(one, 60) for one in await writing(app, thread_id) if one != name]})

    return router


@dataclass(frozen=True, slots=True)
class Beginnings:
    """What a reply may begin with: canned answers by name, and what the agent would have answered."""

    canned: dict[str, str]
    suggestion: str


async def beginnings_of(site: Site, request: Request, thread_id: UUID) -> Beginnings:
    """Those of a thread. Raises `RequestRefused` where there is none."""
    app, workspace = site.app, site.app.settings.workspace
    async with app.database.reading() as conn:
        found = await lines_of(conn, workspace, [thread_id])
        if thread_id not in found:
            raise RequestRefused(404, "thread_unknown", translated("there is no thread %(id)s", id=thread_id))
        notes = (await whole_thread(conn, workspace, thread_id, limit=1)).notes
        return await _beginnings(site, conn, request, found[thread_id], notes)


async def _beginnings(
    site: Site, conn: Connection, request: Request, line: InboxLine, notes: Sequence[Note]
) -> Beginnings:
    settings = site.app.settings
    canned = canned_answers(settings, line, viewer(request))
    suggested = await offered_suggestion(conn, settings, line, notes)
    return Beginnings({one.name: one.text for one in canned}, suggested)


async def asked_of_agent(site: Site, thread_id: UUID, form: Form) -> Suggestion | None:
    """The draft that a form says was asked for; None where it names none of this thread."""
    try:
        return await suggestion(site.app, thread_id, UUID(form.get("suggestion", "")))
    except (ValueError, SuggestionUnknown):
        return None


class Unsent(Protocol):
    """An answer that was not sent."""

    @property
    def form(self) -> Form:
        """What was written."""


async def show_thread(
    site: Site, request: Request, thread_id: UUID, *, after: str = "", status: int = 200, unsent: Unsent | None = None
) -> HTMLResponse:
    """The page; `unsent` is an answer that was not accepted. Raises `RequestRefused`."""
    app, workspace = site.app, site.app.settings.workspace
    async with app.database.reading() as conn:
        try:
            whole = await whole_thread(
                conn, workspace, thread_id, archive=archive_of(app.settings), limit=MESSAGES, after=after
            )
        except ThreadUnknown as error:
            raise RequestRefused(404, "thread_unknown", str(error)) from None
        mails = await mails_of(conn, workspace, [one.mail_id for one in whole.conversation if one.mail_id])
        (row,) = (await lines_of(conn, workspace, [thread_id])).values()
        draft = await held_draft(conn, workspace, row.draft) if row.draft else None
        sentences = await sentences_of(site, conn, draft) if draft else []
        told: dict[str, Any] = {"courses": await courses(conn, workspace, thread_id)}
        told["held"] = await held_replies(app, conn, thread_id)
        told["beginnings"] = await _beginnings(site, conn, request, row, whole.notes)
        replies = [one.reply_id for one in whole.conversation if one.reply_id and one.role == "agent"]
        thumbs = await thumbs_of(conn, workspace, replies)
        cases = await list_investigations(conn, workspace, thread_id=thread_id, limit=INVESTIGATIONS)
    inbox = app.settings.known_inbox(whole.thread.inbox)
    told |= {"whole": whole, "mails": mails, "line": row, "draft": draft, "log": _log(whole), "after": after}
    told["needed"] = _needed(whole)
    told["sentences"] = sentences
    told |= {"unsent": unsent, "reply_id": random_id(), "quotes": inbox is not None and inbox.layout.quote == "below"}
    told["drafted"] = await asked_of_agent(site, thread_id, unsent.form) if unsent else None
    others = [name for name in await writing(app, thread_id) if name != viewer(request)]
    told["writing"] = others
    users = await list_users(app)
    told["people"] = [one.name for one in users if one.may("agent")]
    told["teams"] = await list_teams(app)
    told["mentionable"] = [one.name for one in users if one.name != viewer(request)] + [
        one.name for one in told["teams"]
    ]
    asking = app.settings.investigate
    told |= {"investigations": cases, "rounds": asking.rounds if asking.enabled else 0}
    told["thumbs"] = {id: [one for one in thumbs if one.reply_id == id] for id in replies}
    told |= {"reasons": REASONS, "moments": MOMENTS, "zone": app.settings.office_hours.time_zone}
    steps = [(to, *STEPS[to]) for to in STEPS if to in requests.steps_from(whole.thread.state)]
    return site.page(request, "thread.html", status, steps=steps, **told)


def _needed(whole: WholeThread) -> str:
    """Why a person is needed, "" where nobody is: the reason of the newest escalation."""
    if whole.thread.state != "escalated":
        return ""
    return next((one.reason for one in reversed(whole.log) if one.to_state == "escalated" and not one.refused), "")


def _log(whole: WholeThread) -> list[dict[str, Any]]:
    """Steps of the state machine and what was done, in their order."""
    steps: list[dict[str, Any]] = [
        {
            "version": one.version,
            "at": one.at,
            "what": f"{STATES[one.from_state]} → {STATES[one.to_state]}",
            "who": one.trigger,
            "why": one.reason,
            "refused": one.refused,
        }
        for one in whole.log
    ]
    acts: list[dict[str, Any]] = [
        {"version": one.version, "at": one.at, "what": one.action, "who": one.trigger, "why": one.detail, "refused": ""}
        for one in whole.actions
    ]
    return sorted([*steps, *acts], key=lambda one: int(one["version"]))
