"""Signing in by a one-time link, and out. The name that a person gives is recorded as `by` in all that they do."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse
from pydantic import BaseModel

from services.core.web import RequestRefused
from services.operations import sign_in
from services.web.bodies import By
from services.web.console.forms import checked, read_form
from services.web.console.sessions import give, is_private, take
from services.web.console.site import DONE, ROOT, Site, session_in

NOT_PRIVATE = (
    "Over plain http anybody on the way could take over your session. Open the console over https, or as localhost on "
    "the machine that it runs on."
)


class Named(BaseModel):
    """Who signs in."""

    name: By


def open_pages(site: Site) -> APIRouter:
    """The pages of those who are not signed in yet."""
    router = site.router(signed_in=False)

    @router.get("")
    async def first() -> Response:
        return RedirectResponse(f"{ROOT}/inbox", 303)

    @router.get("/sign-in")
    async def how(request: Request) -> HTMLResponse:
        return site.page(request, "signed_out.html", done=DONE.get(request.query_params.get("done", ""), ""))

    @router.get("/sign-in/{token}")
    async def name(request: Request, token: str) -> HTMLResponse:
        _only_private(request)
        if not await sign_in.is_link(site.app, token):
            return site.page(request, "signed_out.html", 401, used=True)
        return site.page(request, "sign_in.html", token=token, wrong="", name="")

    @router.post("/sign-in")
    async def enter(request: Request) -> Response:
        _only_private(request)
        form = await read_form(request)
        token, given = form.get("token", ""), form.get("name", "")
        try:
            named = checked(Named, name=given)
        except RequestRefused:
            wrong = "Give a name of 1 to 100 characters."
            return site.page(request, "sign_in.html", 422, token=token, wrong=wrong, name=given)
        try:
            session = await sign_in.sign_in(site.app, token, named.name)
        except sign_in.LinkUsed:
            return site.page(request, "signed_out.html", 401, used=True)
        answer = RedirectResponse(f"{ROOT}/inbox", 303)
        give(answer, request, session)
        return answer

    return router


def leaving(site: Site) -> APIRouter:
    """Signing out."""
    router = site.router()

    @router.post("/sign-out")
    async def leave(request: Request) -> Response:
        session = session_in(request)
        assert session is not None
        await sign_in.sign_out(site.app, session)
        answer = RedirectResponse(f"{ROOT}/sign-in?done=signed_out", 303)
        take(answer, request)
        return answer

    return router


def _only_private(request: Request) -> None:
    if not is_private(request):
        raise RequestRefused(403, "not_private", NOT_PRIVATE)
