"""Every route of the deployment asks who it is: the list is the application's own, so that a new one without a guard fails."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from importlib import import_module
from pathlib import Path
from typing import Any, get_args

import httpx
import pytest
from fastapi import FastAPI
from fastapi.routing import APIRoute
from starlette.routing import Route

from deploy.local import Endpoints
from services.core.app import App
from services.core.settings.web import Scope
from services.core.web import _OtherMethods, make_app
from services.operations.users import ROLES, Role
from services.operations.users.tokens import make_token
from services.pipeline import EDGES
from tests.support.console import a_user, form, signed_in
from tests.support.tending import Tended, tending

NOBODY = "00000000-0000-4000-8000-000000000000"
OPEN = {  # what anybody may ask, and why
    "/": "leads to the console",
    "/healthz": "says that the process lives",
    "/openapi.json": "describes the API",
    "/inbound/{format_name}": "a provider's signature lets a mail in",
    "/inbound/{format_name}/{path}": "the same",
    "/inbound/oauth/token": "a client's secret is asked for",
    "/unsubscribe/{token}": "a signed link of a mail",
    "/rate/{token}": "a signed link of a reply",
    "/console": "leads to the inbox",
    "/console/sign-in": "the way in",
    "/console/sign-in/link": "the way in",
    "/console/sign-in/{token}": "the way in",
    "/console/sign-in/oidc": "the way in",
    "/console/sign-in/oidc/callback": "the way in",
    "/console/static/{version}/{name}": "style sheets and scripts",
}
ADMINS_READ = (  # of the API and of the console alike
    r"/participants/\{who\}/restore",
    r"/people/\{who\}/(restore|data)",
    r"/restores.*",
    r"/webhooks.*",
    r"/users.*",
    r"/settings/(history|change).*",
    r"/pipeline/replay",
    r"/kit",
    r"/teams/\{team_id\}.*",
    r"/replays",
)
ADMINS_ACT = (
    *ADMINS_READ,
    r"/people/\{who\}/(export|erase)",
    r"/patterns/.*",
    r"/dead-letters/.*",
    r"/settings",
    r"/teams.*",
    r"/(settings/)?inboxes/\{name\}/test",
)
AGENTS_READ = (r"/replies/\{reply_id\}/what-if",)  # its page asks the model, which costs
ONES_OWN = r"/(me|me/.*|sign-out|inbox/views|first-steps)"  # which a viewer does, too
OIDC = {"issuer": "https://login.example", "client_id": "correspondent", "client_secret": "a-secret-of-a-client"}


@pytest.fixture
async def app(stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path) -> AsyncIterator[Tended]:
    """A deployment with all that has routes."""
    tokens = [{"name": one.replace(":", "-"), "token": f"all-but-{one}-000", "scopes": others(one)} for one in scopes()]
    changes: dict[str, Any] = {"console": {"oidc": OIDC | {"name": "Login"}}, "web": {"tokens": tokens}}
    async with tending(stack, database, topic_prefix, tmp_path, **changes) as one:
        await one.write("Hello?")
        yield one


def scopes() -> list[str]:
    return [one for one in get_args(Scope) if one != "all"]


def others(scope: str) -> list[str]:
    return [one for one in scopes() if one != scope]


def served(app: App) -> FastAPI:
    """The application as a process makes it, of every edge."""
    edges = [import_module(f"services.{name}").EDGE for name in EDGES]
    return make_app([edge.routes(app) for edge in edges if edge.routes])


def asked(web_app: FastAPI) -> list[tuple[str, str]]:
    """Each method and path that is answered."""
    found = [one for one in web_app.routes if isinstance(one, Route | APIRoute)]
    found = [one for one in found if not isinstance(one.endpoint, _OtherMethods)]
    assert len(found) == len(
        [one for one in web_app.routes if not isinstance(getattr(one, "endpoint", 0), _OtherMethods)]
    )
    return sorted({(method, one.path) for one in found for method in (one.methods or ()) if method != "HEAD"})


def filled(path: str) -> str:
    return re.sub(r"\{\w+(?::path)?\}", NOBODY, path)


def least(method: str, path: str) -> Role:
    """The role that a route is for."""
    bare = path.removeprefix("/api").removeprefix("/console")
    reads = method == "GET"
    if any(re.fullmatch(one, bare) for one in (ADMINS_READ if reads else ADMINS_ACT)):
        return "admin"
    reads = reads and not any(re.fullmatch(one, bare) for one in AGENTS_READ)
    return "viewer" if reads or (path.startswith("/console") and re.fullmatch(ONES_OWN, bare)) else "agent"


def client(app: App, token: str = "") -> httpx.AsyncClient:
    transport = httpx.ASGITransport(served(app), raise_app_exceptions=False)
    headers = {"authorization": f"Bearer {token}"} if token else {}
    return httpx.AsyncClient(transport=transport, base_url="http://localhost", headers=headers)


async def test_no_route_answers_somebody_who_is_nobody(app: Tended) -> None:
    """Each but those that are open by their purpose refuses a request without a session or a token, whatever it sends."""
    every = asked(served(app.app))
    assert len(every) > 170
    assert set(OPEN) <= {path for _, path in every}
    before = await app.newest()
    async with client(app.app) as nobody:
        for method, path in every:
            if path in OPEN:
                continue
            for sent in (
                {},
                {"json": {}},
                {"data": {"form_token": "0" * 64}},
                {"headers": {"authorization": "Bearer x"}},
            ):
                answer = await nobody.request(method, filled(path), **sent)
                assert answer.status_code == 401, (method, path, answer.status_code)
    assert await app.newest() == before


@pytest.mark.parametrize("role", ROLES)
async def test_a_users_token_may_do_what_its_user_may_in_the_console(app: Tended, role: Role) -> None:
    """An agent's registered webhooks, opened intents and brought memory back, which the console leaves to admins."""
    token = await make_token(app.app, await a_user(app.app, "Una", role), "x", ["all"])
    async with client(app.app, token) as api, app.at_work():
        for method, path in asked(served(app.app)):
            if not path.startswith("/api/"):
                continue
            answer = await api.request(method, filled(path), json={})
            refused = answer.status_code == 403
            assert refused == (ROLES.index(role) < ROLES.index(least(method, path))), (method, path, answer.text)
            assert not refused or answer.json()["error"] in ("role", "scope_missing")
            assert answer.status_code < 500, (method, path, answer.text)


@pytest.mark.parametrize("role", ROLES)
async def test_each_page_and_form_of_the_console_is_for_its_role(app: Tended, role: Role) -> None:
    """A viewer reads and acts on nothing but their own, an agent answers, and what concerns all is an admin's."""
    async with signed_in(app.app, "Ann"), signed_in(app.app, "Una", role=role) as user, app.at_work():
        token = form(await user.get("/console/inbox"), "/sign-out").fields["form_token"]
        user.follow_redirects = False
        for method, path in asked(served(app.app)):
            ends_it = path in ("/console/live", "/console/sign-out", "/console/me/password")
            if not path.startswith("/console/") or path in OPEN or ends_it:
                continue
            answer = await user.request(method, filled(path), data={"form_token": token} if method == "POST" else None)
            refused = answer.status_code == 403
            assert refused == (ROLES.index(role) < ROLES.index(least(method, path))), (method, path, answer.status_code)
            assert answer.status_code in (200, 303, 403, 404, 409, 415, 422, 503), (method, path, answer.status_code)


async def test_every_scope_but_the_one_that_a_route_is_for_opens_nothing(app: Tended) -> None:
    """Each route of the API is refused to a token that has all others, and let in by no other area's."""
    document = served(app.app).openapi()["paths"]
    routes = [(method.upper(), path) for path, methods in document.items() for method in methods]
    for scope in scopes():
        area, _, kind = scope.partition(":")
        async with client(app.app, f"all-but-{scope}-000") as api:
            for method, path in routes:
                tag = document[path][method.lower()]["tags"][0]
                mine = tag == area and (method == "GET") == (kind == "read")
                if path.startswith("/api/") and mine:
                    answer = await api.request(method, filled(path), json={})
                    assert (answer.status_code, answer.json()["error"]) == (403, "scope_missing"), (method, path)
