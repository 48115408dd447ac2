"""Signing in, by a password or a one-time link, and out."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse
from starlette.background import BackgroundTask

from services.core.app import App
from services.core.errors import Permanent
from services.core.mailbox import MailboxKey
from services.core.request_limits import Pace, network_of
from services.operations import sign_in, users
from services.operations.sign_in import Link, LinkUsed
from services.operations.users import UserRefused
from services.operations.users.audit import note
from services.operations.users.passwords import SHORTEST, PasswordRefused
from services.operations.users.second_factor import takes_code
from services.web.console.forms import Form, read_form
from services.web.console.language import Message, translated
from services.web.console.sessions import give, give_known, known_in, only_private, take
from services.web.console.shown import too_many
from services.web.console.site import DONE, ROOT, Site, session_in

WRONG = Message("Address, password or code is wrong.")
TRIES_PER_MINUTE = 6  # of one account or known browser, and five times as many of one network
DIFFERENT = Message("The two passwords are not the same.")


def open_pages(site: Site) -> APIRouter:
    """The pages of those who are not signed in yet."""
    router = site.router(reads=None)

    @router.get("")
    async def first() -> Response:
        return RedirectResponse(f"{ROOT}/inbox", 303)

    @router.get("/sign-in")
    async def how(request: Request) -> HTMLResponse:
        return await _asked(site, request, DONE.get(request.query_params.get("done", ""), ""))

    _add_password(router, site)
    _add_link(router, site)
    return router


def _add_password(router: APIRouter, site: Site) -> None:
    app, of_account, of_network = site.app, Pace(TRIES_PER_MINUTE), Pace(5 * TRIES_PER_MINUTE)
    of_known = Pace(TRIES_PER_MINUTE)

    @router.post("/sign-in")
    async def enter(request: Request) -> Response:
        only_private(request)
        form = await read_form(request)
        email, host = MailboxKey(form.get("email", "")), request.client.host if request.client else ""
        known = known_in(app, request, email)
        if known:  # whoever floods the account, or its network, does not lock its owner out
            wait = of_known.takes(known)
        else:
            wait = of_network.takes(network_of(request.scope)) or of_account.takes(email)
        if wait:
            return _sign_in(site, request, 429, too_many(wait), email)
        user = await users.with_password(app, email, form.get("password", ""))
        if user is None or (user.has_second_factor and not await takes_code(app, user.user_id, form.get("code", ""))):
            refused = _sign_in(site, request, 401, WRONG, email)
            refused.background = BackgroundTask(_note_refused, app, email, host)
            return refused
        return await _begun(site, request, await sign_in.begin(app, user), user.name, user.email)


def _add_link(router: APIRouter, site: Site) -> None:
    app = site.app

    @router.post("/sign-in/link")
    async def use(request: Request) -> Response:
        only_private(request)
        form = await read_form(request)
        token = form.get("token", "")
        try:
            found = await sign_in.link_of(app, token)
            session = await _used(site, token, found, form)
        except LinkUsed:
            return await _asked(site, request, status=401, used=True)
        except (PasswordRefused, UserRefused) as error:
            return _link(site, request, token, found, form, _sentence(error))
        name, email = (form.get(one, "").strip() for one in ("name", "email"))
        who = (found.user.name, found.user.email) if found.user else (name, email)
        return await _begun(site, request, session, *who)

    @router.get("/sign-in/{token}")
    async def link(request: Request, token: str) -> HTMLResponse:
        only_private(request)
        try:
            return _link(site, request, token, await sign_in.link_of(app, token), {})
        except LinkUsed:
            return await _asked(site, request, status=401, used=True)


def leaving(site: Site) -> APIRouter:
    """Signing out."""
    router = site.router(acts="viewer")

    @router.post("/sign-out")
    async def leave(request: Request) -> Response:
        session = session_in(request)
        assert session is not None
        await sign_in.sign_out(site.app, session)
        answer = RedirectResponse(f"{ROOT}/sign-in?done=signed_out", 303)
        take(answer, request)
        return answer

    return router


async def _used(site: Site, token: str, found: Link, form: Form) -> str:
    password = form.get("password", "")
    if password != form.get("again", ""):
        raise PasswordRefused(str(DIFFERENT))
    if found.user is None:
        who = (form.get("name", ""), form.get("email", ""))
        return await sign_in.become_first(site.app, token, *who, password)
    if not password and not found.user.joined_at:
        raise PasswordRefused(translated("choose a password of at least %(number)s characters", number=SHORTEST))
    return await sign_in.sign_in(site.app, token, password)


async def _note_refused(app: App, email: str, host: str) -> None:
    """Record it where the address is a user's: once the answer is on its way, so that its time does not tell that."""
    if email in {one.email for one in await users.list_users(app)}:
        await note(app, "", "sign-in refused", f"{email} from {host}", 401)


async def _begun(site: Site, request: Request, session: str, name: str, email: str) -> Response:
    await note(site.app, name, "signed in", request.client.host if request.client else "")
    answer = RedirectResponse(f"{ROOT}/inbox", 303)
    give(answer, request, session)
    if email:
        give_known(site.app, answer, request, email)
    return answer


async def _asked(
    site: Site, request: Request, done: str = "", *, status: int = 200, used: bool = False
) -> HTMLResponse:
    """The page that asks for a password; before there are users, the one that says how to make the first."""
    return site.page(
        request,
        "signed_out.html",
        status,
        done=done,
        used=used,
        wrong="",
        email="",
        empty=await users.is_empty(site.app),
    )


def _sign_in(site: Site, request: Request, status: int, wrong: str, email: str) -> HTMLResponse:
    return site.page(request, "signed_out.html", status, used=False, wrong=wrong, email=email, empty=False)


def _link(site: Site, request: Request, token: str, found: Link, form: Form, wrong: str = "") -> HTMLResponse:
    kept = {name: form.get(name, "") for name in ("name", "email")}
    said = {"token": token, "user": found.user, "wrong": wrong, "kept": kept, "shortest": SHORTEST}
    return site.page(request, "link.html", 422 if wrong else 200, **said)


def _sentence(error: Permanent) -> str:
    said = str(error)
    return said[:1].upper() + said[1:] + ("" if said.endswith(".") else ".")
