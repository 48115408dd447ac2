"""Several threads at once: resolved, snoozed, or assigned. Each is asked by itself, and what was refused is said."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel, StringConstraints

from schemas.events.answers import AssignmentRequested
from services.core.errors import Permanent, Temporary
from services.core.web import RequestRefused
from services.operations.threads import answers, requests
from services.operations.threads.inbox import Only, View
from services.web.bodies import Assignment, InboxName, OnePriority, TagTyped
from services.web.console.forms import Form, checked
from services.web.console.inbox import show_inbox
from services.web.console.language import translated
from services.web.console.site import Site, done, form_of, viewer
from services.web.console.snooze import asked_of, snooze_of
from services.web.refusals import WAIT_S

CHOSEN = "thread "  # the name of a chosen thread's box, before its id
AT_ONCE = 8
Act = Callable[[UUID], Awaitable[str]]
DONE = {"resolve": "resolved", "assign": "assigned_all", "snooze": "snoozed_all"}  # act -> what the page says of it


class ListSeen(BaseModel):
    """The list whose threads were chosen, which is shown again."""

    view: View = "needs_me"
    q: Annotated[str, StringConstraints(max_length=200)] = ""
    team: Annotated[str, StringConstraints(max_length=100)] = ""
    inbox: InboxName = ""
    priority: OnePriority = ""
    tag: TagTyped = ""


def bulk_acts(site: Site) -> APIRouter:
    """What the form below the inbox sends."""
    router = site.router()

    @router.post("/inbox/threads")
    async def act(request: Request) -> Response:
        form, by = form_of(request), viewer(request)
        what, chosen = form.get("act"), _chosen(form)
        if what not in DONE:
            raise RequestRefused(422, "invalid", translated("There is no such act."))
        seen = checked(ListSeen, **{name: form[f"in {name}"] for name in ListSeen.model_fields if f"in {name}" in form})
        act_on = _act(site, form, what, by)
        turn = asyncio.Semaphore(AT_ONCE)

        async def one(thread_id: UUID) -> str:
            async with turn:
                try:
                    return await act_on(thread_id)
                except (Permanent, Temporary) as error:
                    return str(error)

        refused = {id: why for id, why in zip(chosen, await asyncio.gather(*map(one, chosen)), strict=True) if why}
        if refused:
            only = Only(seen.inbox, seen.priority, seen.tag)
            return await show_inbox(site, request, seen.view, seen.q, only, team=seen.team, refused=refused, status=409)
        return done("/inbox", DONE[what], **seen.model_dump())

    return router


def _chosen(form: Form) -> list[UUID]:
    """The threads whose boxes are checked. Raises `RequestRefused`."""
    try:
        chosen = [UUID(name.removeprefix(CHOSEN)) for name in form if name.startswith(CHOSEN)]
    except ValueError:
        raise RequestRefused(422, "invalid", translated("what was chosen is no thread")) from None
    if not chosen:
        said = translated("Choose threads first: the boxes at their left, or key x.")
        raise RequestRefused(422, "invalid", said)
    return chosen


def _act(site: Site, form: Form, what: str, by: str) -> Act:
    """What is done to each; it gives why it was refused, "" where it was done. Raises `RequestRefused`."""
    app = site.app

    async def resolve(thread_id: UUID) -> str:
        return (await requests.move(app, thread_id, "resolved", "", by, timeout_s=WAIT_S)).refused

    if what == "resolve":
        return resolve
    if what == "snooze":
        until = snooze_of(app, form, by)

        async def snooze(thread_id: UUID) -> str:
            await requests.snooze(app, asked_of(until, thread_id), timeout_s=WAIT_S)
            return ""

        return snooze
    wanted = checked(Assignment, assignee=form.get("assignee", ""), by=by)

    async def assign(thread_id: UUID) -> str:
        asked = AssignmentRequested(thread_id=thread_id, **wanted.model_dump())
        await answers.assign(app, asked, timeout_s=WAIT_S)
        return ""

    return assign
