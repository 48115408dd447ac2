"""A person answers a thread over HTTP: their reply, where it stands, taking it back; and who has the thread."""

from __future__ import annotations

from dataclasses import asdict
from uuid import UUID

from fastapi import APIRouter

from schemas.events.answers import AssignmentRequested
from services.core.app import App
from services.core.guarded_route import API_BODY_BYTES
from services.core.units import MB
from services.core.web import RequestRefused
from services.operations.drafts.decisions import FilesTooLarge, NewFile
from services.operations.threads import answers
from services.operations.threads.answers import OwnReply
from services.operations.threads.canned import FilledAnswer, canned_answers
from services.operations.threads.inbox import lines_of
from services.operations.threads.listing import ThreadLine, ThreadUnknown, whole_thread
from services.operations.threads.suggestions import (
    Suggestion,
    SuggestionImpossible,
    SuggestionUnknown,
    suggest,
    suggestion,
)
from services.web.bodies import Assignment, OwnWords, SuggestionRequest
from services.web.caller import name_of_caller
from services.web.named import ByQuery
from services.web.refusals import WAIT_S


def add_reply(router: APIRouter, app: App) -> None:
    """Replying, whose body may hold files: 200 with where the reply stands, 409 where it does not fit the thread."""

    @router.post("/threads/{thread_id}/replies")
    async def reply(thread_id: UUID, body: OwnWords) -> OwnReply:
        """Send a reply of your own; the same `id` again is the same reply, and says what became of it."""
        files = tuple(NewFile(one.filename, one.content) for one in body.files)
        new = answers.NewReply(**{**body.model_dump(exclude={"id", "files"}), "files": files})
        try:
            return await answers.reply(app, thread_id, body.id, new, timeout_s=WAIT_S)
        except ThreadUnknown as error:
            raise RequestRefused(404, "thread_unknown", str(error)) from None
        except FilesTooLarge as error:
            raise RequestRefused(413, "files_too_large", str(error)) from None
        except answers.ReplyImpossible as error:
            raise RequestRefused(422, "reply_impossible", str(error)) from None
        except answers.ReplyDoesNotFit as error:
            raise _does_not_fit(error) from None


def add_own_replies(router: APIRouter, app: App) -> None:
    """Where a reply stands, taking it back, and who has a thread."""

    @router.get("/threads/{thread_id}/replies/{reply_id}")
    async def standing(thread_id: UUID, reply_id: UUID) -> OwnReply:
        """Where a reply of a person stands; `leaves_at` is until when it can be taken back."""
        try:
            return await answers.own_reply(app, thread_id, reply_id)
        except answers.ReplyUnknown as error:
            raise RequestRefused(404, "reply_unknown", str(error)) from None

    @router.delete("/threads/{thread_id}/replies/{reply_id}")
    async def take_back(thread_id: UUID, reply_id: UUID, by: ByQuery) -> OwnReply:
        """Take a reply back that has not left; the thread is then yours. 409 where it is too late."""
        try:
            return await answers.cancel(app, thread_id, reply_id, by, timeout_s=WAIT_S)
        except answers.ReplyUnknown as error:
            raise RequestRefused(404, "reply_unknown", str(error)) from None
        except answers.TooLate as error:
            raise RequestRefused(409, "too_late", str(error)) from None

    @router.get("/threads/{thread_id}/canned-answers")
    async def canned(thread_id: UUID) -> list[FilledAnswer]:
        """The canned answers of the thread's inbox, filled in; {me} is the token's name."""
        async with app.database.reading() as conn:
            found = await lines_of(conn, app.settings.workspace, [thread_id])
        if thread_id not in found:
            raise RequestRefused(404, "thread_unknown", f"there is no thread {thread_id}")
        return canned_answers(app.settings, found[thread_id], name_of_caller())

    @router.put("/threads/{thread_id}/assignee")
    async def assign(thread_id: UUID, body: Assignment) -> ThreadLine:
        """Say who has the thread; with `take_over` the agent writes nothing in it until it is handed back."""
        asked = AssignmentRequested(thread_id=thread_id, **body.model_dump())
        try:
            await answers.assign(app, asked, timeout_s=WAIT_S)
        except ThreadUnknown as error:
            raise RequestRefused(404, "thread_unknown", str(error)) from None
        async with app.database.reading() as conn:
            return (await whole_thread(conn, app.settings.workspace, thread_id)).thread


def add_suggestions(router: APIRouter, app: App) -> None:
    """What the agent would answer, for a person: asked for, then looked up until it is `ready` or `failed`."""

    @router.post("/threads/{thread_id}/suggestions")
    async def ask(thread_id: UUID, body: SuggestionRequest) -> Suggestion:
        """Ask what the agent would answer to the newest mail, or for your own words in a better wording."""
        try:
            return await suggest(app, thread_id, body.by, body.words, timeout_s=WAIT_S)
        except ThreadUnknown as error:
            raise RequestRefused(404, "thread_unknown", str(error)) from None
        except SuggestionImpossible as error:
            raise RequestRefused(409, "suggestion_impossible", str(error)) from None

    @router.get("/threads/{thread_id}/suggestions/{suggestion_id}")
    async def stands(thread_id: UUID, suggestion_id: UUID) -> Suggestion:
        """Where a suggestion stands. It is never sent, and no reply of it is made by itself."""
        try:
            return await suggestion(app, thread_id, suggestion_id)
        except SuggestionUnknown as error:
            raise RequestRefused(404, "suggestion_unknown", str(error)) from None


def most_bytes(app: App) -> int:
    """The largest body of a reply: the files that it may have, in base64, next to its text."""
    return API_BODY_BYTES + int(app.settings.send.max_files_mb * MB) * 4 // 3


def _does_not_fit(error: answers.ReplyDoesNotFit) -> RequestRefused:
    came = [{**asdict(one), "at": one.at.isoformat()} for one in error.came]
    return RequestRefused(409, f"reply_{error.code}", error.reason, came=came)
