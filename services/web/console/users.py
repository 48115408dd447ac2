"""Users, for admins: who may sign in with what role, invitations, and the record of what was done."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Request, Response
from fastapi.responses import HTMLResponse
from pydantic import BaseModel, StringConstraints

from services.core.app import App
from services.core.web import RequestRefused
from services.core.web_paging import After
from services.operations import users
from services.operations.sign_in import INVITATION_LASTS, make_link
from services.operations.users import Role, User, UserRefused, UserUnknown, audit
from services.operations.users.invitations import send_invitation
from services.operations.users.second_factor import set_key
from services.web.console.forms import checked
from services.web.console.language import Message, translated
from services.web.console.site import ROOT, Site, done, form_of, place_of, viewer

ABOUT: dict[Role, Message] = {
    "viewer": Message("reads everything"),
    "agent": Message("reads, and answers customers"),
    "admin": Message("all that, and users, teams, settings and dead letters"),
}
LINES = 100  # of the record


class Invited(BaseModel):
    """Whom an admin invites."""

    name: Annotated[str, StringConstraints(max_length=200)]
    email: Annotated[str, StringConstraints(min_length=3, max_length=320)]
    role: Role


class Changed(BaseModel):
    """The role that somebody is to have."""

    role: Role


def user_pages(site: Site) -> APIRouter:
    """The list, changing it, and the record."""
    router = site.router(reads="admin", acts="admin")

    @router.get("/users")
    async def people(request: Request) -> HTMLResponse:
        return await _listed(site, request)

    @router.get("/users/audit")
    async def record(request: Request, after: After = "") -> HTMLResponse:
        page = await audit.entries(site.app, limit=LINES, after=after)
        return site.page(request, "audit.html", entries=page, after=after)

    _add_invitations(router, site)
    _add_changes(router, site)
    return router


def _add_invitations(router: APIRouter, site: Site) -> None:
    @router.post("/users")
    async def invite(request: Request) -> Response:
        form = form_of(request)
        try:
            wanted = checked(Invited, name=form.get("name"), email=form.get("email"), role=form.get("role"))
            user = await users.add_user(site.app, wanted.name, wanted.role, by=viewer(request), email=wanted.email)
        except (UserRefused, RequestRefused) as error:
            return await _listed(site, request, 422, wrong=str(error), kept=form)
        return await _invited(site, request, user)

    @router.post("/users/{user_id}/invite")
    async def again(request: Request, user_id: UUID) -> Response:
        user = await _known(site.app, user_id)
        if user.joined_at:
            raise RequestRefused(409, "joined", translated("%(name)s has joined already.", name=user.name))
        return await _invited(site, request, user)


def _add_changes(router: APIRouter, site: Site) -> None:
    app = site.app

    @router.post("/users/{user_id}/role")
    async def role(request: Request, user_id: UUID) -> Response:
        wanted = checked(Changed, role=form_of(request).get("role"))
        return await _changed(users.set_role(app, (await _known(app, user_id)).user_id, wanted.role), "role")

    @router.post("/users/{user_id}/remove")
    async def remove(request: Request, user_id: UUID) -> Response:
        return await _changed(users.remove_user(app, (await _known(app, user_id)).user_id), "removed")

    @router.post("/users/{user_id}/factor-off")
    async def factor_off(request: Request, user_id: UUID) -> Response:
        await set_key(app, await _known(app, user_id), "")
        return done("/users", "factor_off")


async def _listed(site: Site, request: Request, status: int = 200, **said: Any) -> HTMLResponse:
    """The page, with what came of the last act."""
    about: dict[str, Any] = {"wrong": "", "link": "", "mailed": "", "failed": "", "kept": {}, "roles": ABOUT} | said
    return site.page(request, "users.html", status, users=await users.list_users(site.app), **about)


async def _invited(site: Site, request: Request, user: User) -> HTMLResponse:
    """Mail the invitation; where it cannot be sent, the admin gets the link to hand over."""
    link = f"{place_of(site.app, request)}{ROOT}/sign-in/{await make_link(site.app, user, INVITATION_LASTS)}"
    failed = await send_invitation(site.app, user, link, INVITATION_LASTS.days, translated)
    return await _listed(site, request, mailed=user.email, failed=failed, link=link if failed else "")


async def _changed(change: Awaitable[None], what: str) -> Response:
    try:
        await change
    except UserRefused as error:
        raise RequestRefused(409, "user_refused", translated("Not done: %(reason)s.", reason=error)) from None
    return done("/users", what)


async def _known(app: App, user_id: UUID) -> User:
    try:
        return await users.user_of(app, user_id)
    except UserUnknown as error:
        raise RequestRefused(404, "user_unknown", str(error)) from None
