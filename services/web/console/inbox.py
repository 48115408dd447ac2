"""The inbox: threads by who has to act next, and found by words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated, Any, get_args
from uuid import UUID

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import HTMLResponse

from schemas.events.marks import Priority
from services.core.web import RequestRefused
from services.core.web_paging import After
from services.operations.threads.inbox import (
    EVERY,
    MOST_COUNTED,
    Only,
    View,
    count_needing_a_person,
    found,
    inbox,
    lines_of,
)
from services.operations.users import list_users
from services.operations.users.teams import Team, list_teams
from services.operations.users.views import ViewRefused, forget_view, save_view, views_of
from services.web.bodies import InboxName, OnePriority, TagTyped, ViewToSave
from services.web.console.first_steps import guide_for
from services.web.console.forms import checked
from services.web.console.language import Message, translated
from services.web.console.site import Site, done, form_of, user_in, viewer
from services.web.console.snooze import MOMENTS
from services.web.console.teams import of_user

LINES = 50  # a page
VIEWS = {
    "needs_me": (Message("Needs me"), Message("Escalated to a person, or a draft waits for approval.")),
    "mine": (Message("Mine"), Message("Open threads that are assigned to you.")),
    "mentioned": (Message("Mentioned me"), Message("Open threads in which a note asks you to look.")),
    "team": (
        Message("Team"),
        Message("Open threads that the team has, and of its inboxes those that need a person and that nobody has."),
    ),
    "agent": (Message("Agent has it"), Message("The agent writes an answer, or has answered and left it open.")),
    "customer": (Message("Waiting"), Message("Answered; the customer's word is next.")),
    "snoozed": (
        Message("Snoozed"),
        Message("Put off until a moment. The customer's mail or an escalation brings them back sooner."),
    ),
    "resolved": (Message("Resolved"), Message("Resolved or closed.")),
    "all": (Message("All"), Message("Every thread.")),
}
EMPTY = {
    "needs_me": Message("Nothing needs you. Escalated threads and drafts that wait for approval appear here."),
    "mine": Message("No open thread is yours. Take one over on its page, or assign several in another view."),
    "mentioned": Message("No note of an open thread asks you to look. A colleague names you by @ and your name."),
    "team": Message(
        "Nothing waits for this team. Threads that are assigned to it appear here, and those of its inboxes."
    ),
    "agent": Message("The agent has nothing in hand. New mail appears here until it is answered."),
    "customer": Message("No thread waits for a customer."),
    "snoozed": Message("No thread is snoozed. On a thread's page “Snooze” puts it off until it matters again."),
    "resolved": Message("No thread is resolved yet."),
    "all": Message("No mail has come yet. Send one with `correspondent write`, or connect an inbox."),
}
assert tuple(VIEWS) == get_args(View)


def inbox_pages(site: Site) -> APIRouter:
    """The list, and the views that a user keeps of it."""
    router = site.router(acts="viewer")

    @router.get("/inbox")
    async def threads(
        request: Request,
        view: View = "needs_me",
        q: Annotated[str, Query(max_length=200)] = "",
        inbox: InboxName = "",
        priority: OnePriority = "",
        tag: TagTyped = "",
        team: Annotated[str, Query(max_length=100)] = "",
        after: After = "",
    ) -> HTMLResponse:
        only = Only(inbox, priority, tag.strip())
        return await show_inbox(site, request, view, q.strip(), only, after, team=team)

    @router.post("/inbox/views")
    async def keep(request: Request) -> Response:
        form = form_of(request)
        if "forget" in form:
            await forget_view(site.app, user_in(request), form["forget"])
            return done("/inbox", "view_forgotten")
        wanted = checked(ViewToSave, **{name: form.get(name, "") for name in ViewToSave.model_fields})
        only = Only(wanted.inbox, wanted.priority, wanted.tag)
        try:
            await save_view(site.app, user_in(request), wanted.name, wanted.view, only)
        except ViewRefused as error:
            raise RequestRefused(422, "invalid", translated("Not saved: %(reason)s.", reason=error)) from None
        return done("/inbox", "view_saved")

    return router


async def show_inbox(
    site: Site,
    request: Request,
    view: View = "needs_me",
    asked: str = "",
    only: Only = EVERY,
    after: str = "",
    *,
    team: str = "",
    refused: Mapping[UUID, str] | None = None,
    status: int = 200,
) -> HTMLResponse:
    """The page; `team` names whose queue it is, `refused` are threads of which something was asked in vain, and why.

    Raises `BadCursor`, `RequestRefused`.
    """
    app, workspace, by = site.app, site.app.settings.workspace, viewer(request)
    teams = await list_teams(app)
    whose = _team_named(teams, team) if view == "team" and not asked else None
    async with app.database.reading() as conn:
        if asked:
            lines = await found(conn, workspace, asked, only=only, limit=LINES, after=after)
        else:
            wanted: dict[str, Any] = {"only": only, "limit": LINES, "after": after}
            lines = await inbox(conn, workspace, view, assignee=by, team=whose, **wanted)
        about: dict[str, Any] = {"mine": await count_needing_a_person(conn, workspace), "most": MOST_COUNTED}
        named = await lines_of(conn, workspace, list(refused or ()))
    people = [one.name for one in await list_users(app) if one.may("agent")]
    failed = [(named[id].subject if id in named else str(id), why) for id, why in (refused or {}).items()]
    about |= {"view": view, "q": asked, "only": only, "after": after, "lines": lines, "views": VIEWS}
    queues = list(dict.fromkeys(one.name for one in (*of_user(teams, by), *filter(None, [whose]))))
    about |= {"team": whose.name if whose else "", "teams": teams, "queues": queues}
    about |= {"saved": await views_of(app, user_in(request)), "priorities": get_args(Priority)}
    about["guide"] = None if asked or after else await guide_for(app, user_in(request))
    about |= {"inboxes": [one.name for one in app.settings.inboxes], "empty": _empty(view, asked, only, after)}
    return site.page(request, "inbox.html", status, people=people, refused=failed, moments=MOMENTS, **about)


def _team_named(teams: Iterable[Team], name: str) -> Team:
    """Raises `RequestRefused`."""
    for one in teams:
        if one.name == name:
            return one
    raise RequestRefused(404, "team_unknown", translated("There is no such team."))


def _empty(view: View, asked: str, only: Only, after: str) -> str:
    """What stands in the place of no thread."""
    if after:
        return translated("There is nothing further down.")
    if asked:
        return translated(
            "No subject, no person and no message has the words “%(words)s”, or words that begin so.", words=asked
        )
    if only:
        return translated("No thread of this view is in that inbox, with that priority and tag.")
    return EMPTY[view]
