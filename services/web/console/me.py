"""What somebody sets for themselves: password, language, keys, second factor, API tokens."""

from __future__ import annotations

from collections.abc import Mapping
from typing import get_args
from uuid import UUID

from fastapi import APIRouter, Request, Response
from fastapi.responses import HTMLResponse

from services.core.settings.web import Scope
from services.core.web import RequestRefused
from services.operations import users
from services.operations.users.identities import identities_of
from services.operations.users.keys import DEFAULTS, KeyRefused, keys_of, set_keys
from services.operations.users.passwords import SHORTEST, PasswordRefused
from services.operations.users.second_factor import app_address, is_code, new_key, set_key
from services.operations.users.tokens import TokenRefused, make_token, revoke_token, tokens_of
from services.web.console.keys import ACTS, words_of
from services.web.console.language import Message, languages, translated
from services.web.console.site import Site, done, form_of, session_in, user_in

SCOPES: tuple[str, ...] = get_args(Scope)
DIFFERENT = Message("The two passwords are not the same.")
NO_CODE = Message(
    "This is not the code that an app with this key shows now. Look at the clock of your telephone, and try again."
)


def my_page(site: Site) -> APIRouter:
    """One page, and what it sends."""
    router = site.router(acts="viewer")

    @router.get("/me")
    async def me(request: Request) -> HTMLResponse:
        return await _shown(site, request)

    for add in (_add_password, _add_language, _add_keys, _add_factor, _add_tokens):
        add(router, site)
    return router


def _add_language(router: APIRouter, site: Site) -> None:
    @router.post("/me/language")
    async def language(request: Request) -> Response:
        chosen = form_of(request).get("language", "")
        await users.set_language(site.app, user_in(request).user_id, chosen if chosen in languages() else "")
        return done("/me", "language")


def _add_keys(router: APIRouter, site: Site) -> None:
    @router.post("/me/keys")
    async def keys(request: Request) -> Response:
        form = form_of(request)
        wanted = dict(DEFAULTS) if "reset" in form else {act: form.get(f"key {act}", "") for act in ACTS}
        try:
            await set_keys(site.app, user_in(request), wanted)
        except KeyRefused as error:
            return await _shown(site, request, 422, wrong=words_of(error), keys=wanted)
        return done("/me", "keys")


def _add_password(router: APIRouter, site: Site) -> None:
    @router.post("/me/password")
    async def password(request: Request) -> Response:
        form, user, session = form_of(request), user_in(request), session_in(request)
        assert session is not None
        new = form.get("password", "")
        if new != form.get("again", ""):
            return await _shown(site, request, 422, wrong=DIFFERENT)
        if refusal := await _refusal(site, request):
            return refusal
        try:
            await users.set_password(site.app, user.user_id, new, session=session.token_sha256)
        except PasswordRefused as error:
            return await _shown(site, request, 422, wrong=translated("Not changed: %(reason)s.", reason=error))
        return done("/me", "password")


def _add_factor(router: APIRouter, site: Site) -> None:
    @router.post("/me/factor")
    async def factor(request: Request) -> Response:
        form = form_of(request)
        key = form.get("key", "")
        try:
            right = is_code(key, form.get("code", ""), site.app.now().timestamp())
        except ValueError:  # not a key of ours
            return await _shown(site, request, 422, wrong=NO_CODE)
        if not right:
            return await _shown(site, request, 422, wrong=NO_CODE, key=key)
        if refusal := await _refusal(site, request, key):
            return refusal
        await set_key(site.app, user_in(request), key)
        return done("/me", "factor_on")

    @router.post("/me/factor-off")
    async def factor_off(request: Request) -> Response:
        if refusal := await _refusal(site, request):
            return refusal
        await set_key(site.app, user_in(request), "")
        return done("/me", "factor_off")


def _add_tokens(router: APIRouter, site: Site) -> None:
    @router.post("/me/tokens")
    async def token(request: Request) -> Response:
        form = form_of(request)
        chosen = [one for one in SCOPES if form.get(f"scope {one}")]
        if refusal := await _refusal(site, request):
            return refusal
        try:
            made = await make_token(site.app, user_in(request), form.get("label", ""), chosen)
        except TokenRefused as error:
            return await _shown(site, request, 422, wrong=translated("Not made: %(reason)s.", reason=error))
        return await _shown(site, request, made=made)

    @router.post("/me/tokens/{token_id}/revoke")
    async def revoke(request: Request, token_id: UUID) -> Response:
        await revoke_token(site.app, user_in(request), token_id)
        return done("/me", "revoked")


async def _refusal(site: Site, request: Request, key: str = "") -> HTMLResponse | None:
    """The page that says why the form's password is not taken; None where it is."""
    try:
        await site.ask_password(request)
    except RequestRefused as error:
        return await _shown(site, request, error.status, wrong=str(error), key=key)
    return None


async def _shown(
    site: Site,
    request: Request,
    status: int = 200,
    *,
    key: str = "",
    wrong: str = "",
    made: str = "",
    keys: Mapping[str, str] | None = None,
) -> HTMLResponse:
    user, shown = user_in(request), key or new_key()
    about = {
        "user": user,
        "languages": languages(),
        "shortest": SHORTEST,
        "accounts": await identities_of(site.app, user.user_id),
        "tokens": await tokens_of(site.app, user),
        "scopes": [one for one in SCOPES if user.may("agent") or one.endswith(":read")],
        "acts": ACTS,
        "typed": keys or keys_of(user),
        "key": shown,
        "key_address": app_address(user, shown),
        "wrong": wrong,
        "made": made,
    }
    return site.page(request, "me.html", status, **about)
