"""Teams: who shares which queue of threads. Everybody reads it, admins change it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any
from uuid import UUID

from fastapi import APIRouter, Request, Response
from fastapi.responses import HTMLResponse

from services.core.web import RequestRefused
from services.operations.users import UserUnknown, list_users, teams
from services.operations.users.teams import MOST, MOST_MEMBERS, Team, TeamRefused, TeamUnknown
from services.web.console.forms import Form
from services.web.console.language import Message, translated
from services.web.console.site import Site, done, form_of

REFUSED: Mapping[str, str] = {
    "name": Message("A name is 1 to 100 characters that can be seen."),
    "taken": Message("This name is taken: it names another team, or a user, or one who has left."),
    "most": Message("There are %(count)s teams: remove one first."),
    "members": Message("A team has %(members)s members at most."),
    "inbox": Message("An inbox of this team is in the settings no more: choose again."),
    "threads": Message("It has open threads: assign them to somebody first."),
}
GONE = Message("There is no such team any more.")


def team_pages(site: Site) -> APIRouter:
    """The list, and what its forms send."""
    router, app = site.router(acts="admin"), site.app

    @router.get("/teams")
    async def listed(request: Request) -> HTMLResponse:
        return await _listed(site, request)

    @router.post("/teams")
    async def add(request: Request) -> Response:
        form = form_of(request)
        try:
            await teams.add_team(app, form.get("name", ""), _chosen(form, "member "), _chosen(form, "inbox "))
        except (TeamRefused, UserUnknown) as error:
            return await _listed(site, request, 422, wrong=_words(error), kept=form)
        return done("/teams", "team_added")

    @router.post("/teams/{team_id}")
    async def change(request: Request, team_id: UUID) -> Response:
        form = form_of(request)
        try:
            await teams.change_team(app, team_id, _chosen(form, "member "), _chosen(form, "inbox "))
        except TeamUnknown:
            raise RequestRefused(404, "team_unknown", str(GONE)) from None
        except (TeamRefused, UserUnknown) as error:
            raise RequestRefused(422, "team_refused", _words(error)) from None
        return done("/teams", "team_changed")

    @router.post("/teams/{team_id}/remove")
    async def remove(team_id: UUID) -> Response:
        try:
            await teams.remove_team(app, team_id)
        except TeamUnknown:
            raise RequestRefused(404, "team_unknown", str(GONE)) from None
        except TeamRefused as error:
            raise RequestRefused(409, "team_refused", _words(error)) from None
        return done("/teams", "team_removed")

    return router


def of_user(found: Iterable[Team], name: str) -> list[Team]:
    """The teams that somebody is in."""
    return [one for one in found if name in one.members]


async def _listed(
    site: Site, request: Request, status: int = 200, *, wrong: str = "", kept: Form | None = None
) -> HTMLResponse:
    """The page; `kept` is what was written for a new team in vain."""
    found = await teams.list_teams(site.app)
    people = [one.name for one in await list_users(site.app)]
    inboxes = [one.name for one in site.app.settings.inboxes]
    about: dict[str, Any] = {"teams": found, "people": people, "inboxes": inboxes, "wrong": wrong}
    about |= {"name": (kept or {}).get("name", "")}
    about |= {"members": _chosen(kept or {}, "member "), "own": _chosen(kept or {}, "inbox ")}
    return site.page(request, "teams.html", status, **about)


def _chosen(form: Form, begins: str) -> list[str]:
    return [name.removeprefix(begins) for name in form if name.startswith(begins)]


def _words(error: TeamRefused | UserUnknown) -> str:
    if isinstance(error, UserUnknown):
        return translated("Somebody of this team was removed meanwhile: choose again.")
    return translated(REFUSED[error.code], count=MOST, members=MOST_MEMBERS)
