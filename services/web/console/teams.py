"""Teams: who shares which queue of threads. Everybody reads it, admins change it."""

from __future__ import annotations

from collections.abc import Awaitable, Iterable, Mapping
from typing import Any, TypeVar
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
T = TypeVar("T")


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

    return router


def team_page(site: Site) -> APIRouter:
    """One team, for admins: changed and removed."""
    router, app = site.router(reads="admin", acts="admin"), site.app

    @router.get("/teams/{team_id}")
    async def team(request: Request, team_id: UUID) -> HTMLResponse:
        return await _shown(site, request, await _known(teams.team_of(app, team_id)))

    @router.post("/teams/{team_id}")
    async def change(request: Request, team_id: UUID) -> Response:
        form = form_of(request)
        try:
            await _known(teams.change_team(app, team_id, _chosen(form, "member "), _chosen(form, "inbox ")))
        except (TeamRefused, UserUnknown) as error:
            team = await _known(teams.team_of(app, team_id))
            return await _shown(site, request, team, 422, wrong=_words(error), kept=form)
        return done("/teams", "team_changed")

    @router.post("/teams/{team_id}/remove")
    async def remove(request: Request, team_id: UUID) -> Response:
        try:
            await _known(teams.remove_team(app, team_id))
        except TeamRefused as error:
            team = await _known(teams.team_of(app, team_id))
            return await _shown(site, request, team, 409, wrong=_words(error))
        return done("/teams", "team_removed")

    return router


def of_user(found: Iterable[Team], name: str) -> list[Team]:
    """The teams that somebody is in."""
    return [one for one in found if name in one.members]


async def _listed(
    site: Site, request: Request, status: int = 200, *, wrong: str = "", kept: Form | None = None
) -> HTMLResponse:
    """The page; `kept` is what was written for a new team in vain."""
    about = await _choices(site) | {"teams": await teams.list_teams(site.app), "wrong": wrong}
    typed = kept or {}
    about |= {"name": typed.get("name", ""), "members": _chosen(typed, "member "), "own": _chosen(typed, "inbox ")}
    return site.page(request, "teams.html", status, **about)


async def _shown(
    site: Site, request: Request, team: Team, status: int = 200, *, wrong: str = "", kept: Form | None = None
) -> HTMLResponse:
    """One team; `kept` is what was chosen for it in vain."""
    members, own = (team.members, team.inboxes) if kept is None else (_chosen(kept, "member "), _chosen(kept, "inbox "))
    about = await _choices(site) | {"team": team, "members": members, "own": own, "wrong": wrong}
    return site.page(request, "team.html", status, **about)


async def _choices(site: Site) -> dict[str, Any]:
    """Who may be in a team, and which inboxes it may have."""
    people = [one.name for one in await list_users(site.app)]
    return {"people": people, "inboxes": [one.name for one in site.app.settings.inboxes]}


async def _known(asked: Awaitable[T]) -> T:
    try:
        return await asked
    except TeamUnknown:
        raise RequestRefused(404, "team_unknown", str(GONE)) from None


def _chosen(form: Form, begins: str) -> list[str]:
    return [name.removeprefix(begins) for name in form if name.startswith(begins)]


def _words(error: TeamRefused | UserUnknown) -> str:
    if isinstance(error, UserUnknown):
        return translated("Somebody of this team was removed meanwhile: choose again.")
    return translated(REFUSED[error.code], count=MOST, members=MOST_MEMBERS)
