"""Signing in by an account at an OpenID provider, or linking one to oneself: to the provider, and back.

The session's cookie is for this site alone, so a browser that comes from elsewhere does not send it: it is known by a
cookie of its own on its way, and goes on from a page of ours, since a redirect would not send it either.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import quote

import structlog
from fastapi import APIRouter, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse

from services.core.errors import CorrespondentError
from services.core.request_limits import Pace, network_of
from services.core.settings import OidcSettings
from services.core.storable import is_storable
from services.core.web import RequestRefused
from services.operations import sign_in, users
from services.operations.sign_in.on_the_way import (
    LASTS,
    LOST,
    ProviderAway,
    ProviderWrong,
    SignInRefused,
    Way,
    browser_token,
    come_back,
    question_of,
    set_out,
)
from services.operations.users.audit import note
from services.operations.users.identities import Account, NotLetIn, account_of, link, unlink, user_of_account
from services.web.console.language import translated
from services.web.console.sessions import give, give_way, only_private, way_in
from services.web.console.shown import too_many
from services.web.console.site import ROOT, Site, done, place_of, user_in

if TYPE_CHECKING:
    from services.operations.sign_in.openid import Provider

log = structlog.get_logger(__name__)

TRIES_PER_MINUTE = 30  # of one address, on each way
LONGEST_PLACE = 500
BACK = f"{ROOT}/sign-in/oidc/callback"
INBOX, ME = f"{ROOT}/inbox", f"{ROOT}/me"
WRONG = (ProviderAway, ProviderWrong, SignInRefused, NotLetIn)


def openid_pages(site: Site) -> APIRouter:
    """The addresses that a browser of somebody who is not signed in passes; there are none without `console.oidc`."""
    router, settings = site.router(reads=None), site.app.settings.console.oidc
    if settings is not None:
        _add_ways(router, site, settings, _provider(site, settings))
    return router


def account_acts(site: Site) -> APIRouter:
    """Linking an account to oneself, and taking it off."""
    router, settings = site.router(acts="viewer"), site.app.settings.console.oidc
    if settings is not None:
        _add_acts(router, site, settings, _provider(site, settings))
    return router


def _provider(site: Site, settings: OidcSettings) -> Provider:
    # Imported where it is set: it takes longer than all other pages.
    from services.operations.sign_in.openid import Provider

    return Provider(settings, site.app.now)


def safe_place(said: str) -> str:
    """The address of a page of the console, to go on to; the inbox where it is anything else."""
    fits = said.startswith(f"{ROOT}/") and len(said) <= LONGEST_PLACE and is_storable(said)
    if not fits or said.startswith(f"{ROOT}/sign-in") or {"", ".", ".."} & set(said.split("/")[2:]):
        return INBOX
    return quote(said)


def _add_ways(router: APIRouter, site: Site, settings: OidcSettings, provider: Provider) -> None:
    app, leaving, coming = site.app, Pace(TRIES_PER_MINUTE), Pace(TRIES_PER_MINUTE)

    @router.get("/sign-in/oidc")
    async def leave(request: Request) -> Response:
        _within(request, leaving)
        browser, place = browser_token(way_in(request)), safe_place(request.query_params.get("next", ""))
        question = await set_out(app, browser, _back(site, request), place)
        try:
            answer = RedirectResponse(await provider.address(question), 303)
        except (ProviderAway, ProviderWrong) as error:
            return await _refused(site, request, settings, error)
        give_way(answer, request, browser, LASTS)
        return answer

    @router.get("/sign-in/oidc/callback")
    async def arrive(request: Request) -> Response:
        _within(request, coming)
        said = dict(request.query_params)
        try:
            way = await come_back(app, way_in(request), said.get("state", ""))
        except SignInRefused as error:
            return await _refused(site, request, settings, error)
        try:
            claims = await provider.claims(question_of(app, _back(site, request), said["state"]), said)
            account = account_of(settings, claims)
            return await (_linked if way.user_id else _begun)(site, request, settings, way, account)
        except WRONG as error:
            await note(app, "", "sign-in refused", f"{_host(request)}, {settings.name}: {error}", 401)
            return await _refused(site, request, settings, error, way)


def _add_acts(router: APIRouter, site: Site, settings: OidcSettings, provider: Provider) -> None:
    app = site.app

    @router.post("/me/oidc")
    async def leave(request: Request) -> Response:
        await site.ask_password(request)
        browser, back = browser_token(way_in(request)), _back(site, request)
        question = await set_out(app, browser, back, f"{ME}?done=linked", user_in(request).user_id)
        try:
            address = await provider.address(question)
        except (ProviderAway, ProviderWrong) as error:
            raise RequestRefused(503, "provider", _sentence(settings, error)) from None
        # No redirect: a form may lead to our own pages alone, redirects included (`form-action`).
        answer = site.page(
            request, "onward.html", title=translated("Going to %(name)s", name=settings.name), wrong="", onward=address
        )
        give_way(answer, request, browser, LASTS)
        return answer

    @router.post("/me/oidc-off")
    async def off(request: Request) -> Response:
        await unlink(app, user_in(request).user_id)
        return done("/me", "unlinked")


async def _begun(site: Site, request: Request, settings: OidcSettings, way: Way, account: Account) -> Response:
    """A session of whoever the account is, from the next page on."""
    user = await user_of_account(site.app, settings, account)
    await note(site.app, user.name, "signed in", f"{_host(request)}, {settings.name}")
    answer = site.page(request, "onward.html", title=translated("Signed in"), wrong="", onward=way.place)
    give(answer, request, await sign_in.begin(site.app, user))
    return answer


async def _linked(site: Site, request: Request, settings: OidcSettings, way: Way, account: Account) -> Response:
    assert way.user_id is not None
    try:
        user = await users.user_of(site.app, way.user_id)
    except users.UserUnknown:
        raise SignInRefused(LOST) from None
    await link(site.app, user.user_id, account)
    await note(site.app, user.name, "account linked", f"{_host(request)}, {settings.name}")
    return site.page(request, "onward.html", title=translated("Linked"), wrong="", onward=way.place)


async def _refused(
    site: Site, request: Request, settings: OidcSettings, error: CorrespondentError, way: Way | None = None
) -> HTMLResponse:
    """Why nobody is signed in, above the ways in; for one who was linking, above the way back to their page."""
    status = {ProviderAway: 503, ProviderWrong: 502, NotLetIn: 403}.get(type(error), 401)
    log.warning("sign-in by a provider refused", error=type(error).__name__, reason=str(error))
    said = _sentence(settings, error)
    if way and way.user_id:
        return site.page(request, "onward.html", status, title=translated("Not linked"), wrong=said, onward=ME)
    empty = await users.is_empty(site.app)
    about = {"used": False, "wrong": "", "email": "", "empty": empty, "refused": said}
    return site.page(request, "signed_out.html", status, **about)


def _sentence(settings: OidcSettings, error: CorrespondentError) -> str:
    said = str(error).removesuffix(".")
    if isinstance(error, ProviderAway):
        return translated(
            "%(name)s does not answer now: %(reason)s. Try again in a moment, or sign in another way.",
            name=settings.name,
            reason=said,
        )
    if isinstance(error, ProviderWrong):
        return translated(
            "%(name)s is not set up right: %(reason)s. Whoever runs the deployment has to look at console.oidc.",
            name=settings.name,
            reason=said,
        )
    return f"{settings.name}: {said}."


def _back(site: Site, request: Request) -> str:
    return f"{place_of(site.app, request)}{BACK}"


def _host(request: Request) -> str:
    return request.client.host if request.client else ""


def _within(request: Request, pace: Pace) -> None:
    only_private(request)
    if wait := pace.takes(network_of(request.scope)):
        raise RequestRefused(429, "too_many", too_many(wait))
