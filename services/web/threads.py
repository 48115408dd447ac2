"""Threads over HTTP: lists, one whole thread, what is due next, why a reply says what it says, and requests."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query, Request, Response

from schemas.events.answers import SnoozeRequested
from schemas.events.marks import Priority, Tag
from schemas.events.threads import ThreadState
from services.core.app import App
from services.core.archive.archive import archive_of
from services.core.archive.file import ArchiveDamaged
from services.core.archive.places import ArchiveMissing
from services.core.paging import MOST, Page
from services.core.web import RequestRefused
from services.core.web_paging import After, Limit, linked
from services.operations.threads import inbox as inboxes
from services.operations.threads import requests
from services.operations.threads.cost import Cost, cost_of
from services.operations.threads.explanations import (
    Explanation,
    NothingToExplain,
    Told,
    explained,
    told_in_thread,
    told_of_reply,
)
from services.operations.threads.inbox import InboxLine, Only, View
from services.operations.threads.listing import (
    Due,
    ThreadLine,
    ThreadUnknown,
    WholeThread,
    due_next,
    list_threads,
    whole_thread,
)
from services.operations.threads.prompts import Prompt, prompt_of
from services.operations.users.teams import Team, TeamUnknown, team_named
from services.web.bodies import InboxName, Marks, NewNote, OnePriority, Snooze, StepCommand, Stepped, TagTyped
from services.web.refusals import WAIT_S


def add_reads(router: APIRouter, app: App) -> None:
    """The reading half."""
    workspace = app.settings.workspace

    @router.get("/threads")
    async def threads(
        request: Request,
        response: Response,
        state: ThreadState | None = None,
        priority: Priority | None = None,
        tag: Annotated[Tag | None, Query()] = None,
        inbox: Annotated[str | None, Query(max_length=200, pattern=r"^[^\x00]*$")] = None,
        limit: Limit = 50,
        after: After = "",
    ) -> list[ThreadLine]:
        """Threads, the latest change first."""
        async with app.database.reading() as conn:
            wanted = {"state": state, "priority": priority, "tag": tag, "inbox": inbox}
            page = await list_threads(conn, workspace, limit=limit, after=after, **wanted)
        return linked(request, response, page)

    @router.get("/inbox")
    async def lines(
        request: Request,
        response: Response,
        view: View = "needs_me",
        assignee: Annotated[str, Query(max_length=100, description="whose threads `mine` and `mentioned` are")] = "",
        team: Annotated[str, Query(max_length=100, description="whose queue `team` is")] = "",
        q: Annotated[str, Query(max_length=200, description="words to find instead, in every view")] = "",
        inbox: InboxName = "",
        priority: OnePriority = "",
        tag: TagTyped = "",
        limit: Limit = 50,
        after: After = "",
    ) -> list[InboxLine]:
        """Threads by who has to act next, or by words of subjects, people and messages; the latest change first."""
        only, whose = Only(inbox, priority, tag.strip()), await team_asked(app, view, team)
        async with app.database.reading() as conn:
            if q.strip():
                page = await inboxes.found(conn, workspace, q.strip(), only=only, limit=limit, after=after)
            else:
                page = await inboxes.inbox(
                    conn, workspace, view, assignee=assignee, team=whose, only=only, limit=limit, after=after
                )
        return linked(request, response, page)

    @router.get("/threads/{thread_id}")
    async def thread(
        thread_id: UUID, request: Request, response: Response, limit: Limit = MOST, after: After = ""
    ) -> WholeThread:
        """One thread: conversation, summary, goals, deadlines, notes, and the log with reasons and causes.

        Of a long conversation the newest messages, with the log next to them; `earlier` goes on with those before.
        """
        found = await _whole(app, thread_id, limit, after)
        linked(request, response, Page[None](cursor=found.earlier))
        return found

    @router.get("/deadlines")
    async def deadlines(request: Request, response: Response, limit: Limit = 50, after: After = "") -> list[Due]:
        """What is due next, what is overdue first."""
        async with app.database.reading() as conn:
            page = await due_next(conn, workspace, limit=limit, after=after)
        return linked(request, response, page)


def add_requests(router: APIRouter, app: App) -> None:
    """The asking half: 200 with what became of it, 409 where it was refused, 503 where it is not decided yet."""

    @router.post("/threads/{thread_id}/steps")
    async def step(thread_id: UUID, body: StepCommand) -> Stepped:
        """Ask for one step of the state machine; it is made or refused, and logged either way."""
        try:
            made = await requests.move(app, thread_id, body.to, body.reason, body.by, timeout_s=WAIT_S)
        except ThreadUnknown as error:
            raise _unknown(error) from None
        if made.refused:
            raise RequestRefused(409, "step_refused", made.refused)
        return Stepped(from_state=made.from_state, to_state=made.to_state)

    @router.patch("/threads/{thread_id}")
    async def marks(thread_id: UUID, body: Marks) -> ThreadLine:
        """Set the priority, put tags on or take them off, add or close goals."""
        await _mark(app, thread_id, **body.model_dump())
        return (await _whole(app, thread_id)).thread

    @router.put("/threads/{thread_id}/snooze")
    async def snooze(thread_id: UUID, body: Snooze) -> ThreadLine:
        """Put the thread off until a moment, a mail of the customer's, or an escalation; null ends that."""
        asked = SnoozeRequested(thread_id=thread_id, **body.model_dump())
        try:
            await requests.snooze(app, asked, timeout_s=WAIT_S)
        except ThreadUnknown as error:
            raise _unknown(error) from None
        except requests.SnoozeRefused as error:
            raise RequestRefused(409, "snooze_refused", str(error)) from None
        return (await _whole(app, thread_id)).thread

    @router.post("/threads/{thread_id}/notes", status_code=201)
    async def note(thread_id: UUID, body: NewNote) -> None:
        """Leave a note for people. It is never sent."""
        await _mark(app, thread_id, note=body.text, by=body.by)


async def _mark(app: App, thread_id: UUID, **given: object) -> None:
    try:
        await requests.mark(app, thread_id, timeout_s=WAIT_S, **given)
    except ThreadUnknown as error:
        raise _unknown(error) from None
    except requests.GoalUnknown as error:
        raise RequestRefused(409, "goal_unknown", str(error)) from None


async def _whole(app: App, thread_id: UUID, limit: int = MOST, after: str = "") -> WholeThread:
    try:
        async with app.database.reading() as conn:
            archive = archive_of(app.settings)
            workspace = app.settings.workspace
            return await whole_thread(conn, workspace, thread_id, archive=archive, limit=limit, after=after)
    except ThreadUnknown as error:
        raise _unknown(error) from None


def _unknown(error: ThreadUnknown) -> RequestRefused:
    return RequestRefused(404, "thread_unknown", str(error))


# Why a reply says what it says, over HTTP.


def add_explanations(router: APIRouter, app: App) -> None:
    """Of a thread's newest turn, of one turn, or of a reply: its context, the prompt made of it, what it took."""

    @router.get("/threads/{thread_id}/context")
    async def of_thread(thread_id: UUID, turn: UUID | None = None) -> Explanation:
        """The context that a turn was answered from, by default the newest: layers, settings, what was decided."""
        return explained(await told(app, thread_id=thread_id, turn_id=turn))

    @router.get("/replies/{reply_id}/context")
    async def of_reply(reply_id: UUID) -> Explanation:
        """The context that a reply was made from."""
        return explained(await told(app, reply_id=reply_id))

    @router.get("/threads/{thread_id}/prompt")
    async def prompt_of_thread(thread_id: UUID, turn: UUID | None = None) -> Prompt:
        """All that the model read in a turn, by default the newest; `standing` says whether it is what was sent."""
        return await prompt_of(app, await told(app, thread_id=thread_id, turn_id=turn))

    @router.get("/replies/{reply_id}/prompt")
    async def prompt_of_reply(reply_id: UUID) -> Prompt:
        """All that the model read before it wrote a reply."""
        return await prompt_of(app, await told(app, reply_id=reply_id))

    @router.get("/threads/{thread_id}/cost")
    async def cost_of_thread(thread_id: UUID, turn: UUID | None = None) -> Cost:
        """What a turn took, by default the newest: milliseconds from hop to hop, and money for each decision."""
        return await _cost(app, await told(app, thread_id=thread_id, turn_id=turn))

    @router.get("/replies/{reply_id}/cost")
    async def cost_of_reply(reply_id: UUID) -> Cost:
        """What a reply took."""
        return await _cost(app, await told(app, reply_id=reply_id))


async def team_asked(app: App, view: View, name: str) -> Team | None:
    """Whose queue a view of the inbox is, if it is one's. Raises `RequestRefused`."""
    if view != "team":
        return None
    try:
        return await team_named(app, name)
    except TeamUnknown as error:
        raise RequestRefused(404, "team_unknown", str(error)) from None


async def told(
    app: App, *, thread_id: UUID | None = None, turn_id: UUID | None = None, reply_id: UUID | None = None
) -> Told:
    """The stored context of a thread's newest turn, of one turn, or of a reply. Raises `RequestRefused`."""
    workspace, archive = app.settings.workspace, archive_of(app.settings)
    async with app.database.reading() as conn:
        try:
            if reply_id is not None:
                return await told_of_reply(conn, workspace, reply_id, archive=archive)
            assert thread_id is not None
            return await told_in_thread(conn, workspace, thread_id, turn_id, archive=archive)
        except NothingToExplain as error:
            raise RequestRefused(404, "context_unknown", str(error)) from None
        except (ArchiveMissing, ArchiveDamaged) as error:
            raise RequestRefused(503, "archive_unreadable", str(error)) from None


async def _cost(app: App, found: Told) -> Cost:
    async with app.database.reading() as conn:
        return await cost_of(conn, app.settings.workspace, app.settings.model, explained(found))
