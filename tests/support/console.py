"""The console as a browser without JavaScript uses it: a user signs in by a one-time link, follows forms as pages have them."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from html import unescape
from typing import Any

import httpx
from fastapi.routing import APIRoute
from lxml import html

from services.core.app import App
from services.core.web import make_app
from services.operations import users
from services.operations.sign_in import make_link
from services.operations.users import Role, User, UserUnknown
from services.web.console.routes import pages
from services.web.console.site import ROOT

PLACE = "http://localhost"
NAME = "Grace"
NO_PAGES: Mapping[str, str] = {  # what a GET answers with instead, by the route
    "": "goes on to the inbox",
    "/drafts/next": "goes on to a draft",
    "/sign-in/oidc": "goes on to the provider",
    "/sign-in/oidc/callback": "goes on to the inbox",
    "/live": "a stream of events",
    "/threads/{thread_id}/writing": "a list of names",
    "/threads/{thread_id}/suggestions/{suggestion_id}": "a part of a thread's page",
    "/mails/{mail_id}/html": "what a customer wrote, in a frame",
    "/mails/{mail_id}/files/{number}": "a file",
    "/static/{version}/{name}": "a file",
}


def browser(app: App, place: str = PLACE) -> httpx.AsyncClient:
    """A browser that is not signed in; it follows redirects."""
    transport = httpx.ASGITransport(make_app([pages(app)]), raise_app_exceptions=False)
    return httpx.AsyncClient(transport=transport, base_url=place, follow_redirects=True)


@asynccontextmanager
async def signed_in(
    app: App, name: str = NAME, place: str = PLACE, *, role: Role = "admin"
) -> AsyncIterator[httpx.AsyncClient]:
    """A browser of a user of this name, who is made where there is none, and used a link."""
    link = await make_link(app, await a_user(app, name, role))
    async with browser(app, place) as client:
        answer = await client.post("/console/sign-in/link", data={"token": link})
        assert answer.status_code == 200, answer.text
        yield client


def never_opened(app: App, addresses: Iterable[str]) -> set[str]:
    """The console's pages, as routes write them, that none of these addresses (without `/console`) opens."""
    routes = [one for one in pages(app).routes if isinstance(one, APIRoute) and "GET" in (one.methods or ())]
    opened = set()
    for address in addresses:
        path = f"{ROOT}{address.partition('?')[0]}"
        opened.add(next(one.path for one in routes if one.path_regex.match(path)))
    return {one.path.removeprefix(ROOT) for one in routes if one.path not in opened} - NO_PAGES.keys()


async def a_user(app: App, name: str = NAME, role: Role = "admin") -> User:
    """A user of this name, who is made where there is none."""
    try:
        return await users.user_named(app, name)
    except UserUnknown:
        return await users.add_user(app, name, role, by="", joined=True)


@dataclass(frozen=True)
class Form:
    """A form of a page: where it goes, and what its fields hold."""

    action: str
    fields: dict[str, str]

    async def send(self, client: httpx.AsyncClient, **changed: str) -> httpx.Response:
        """Send it with some fields filled in."""
        return await client.post(self.action, data=self.fields | changed)


def form(page: httpx.Response, ending: str) -> Form:
    """The form of a page whose address ends so."""
    root: Any = html.fromstring(page.text)
    for one in root.forms:
        if (one.action or "").endswith(ending):
            return Form(one.action, {name: str(value or "").lstrip("\n") for name, value in one.form_values()})
    raise AssertionError(f"no form goes to {ending}: {[one.action for one in root.forms]}")


def text_of(page: httpx.Response) -> str:
    """What a page says, without its markup."""
    main = re.search(r"<main.*</main>", page.text, re.DOTALL)
    assert main
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", main[0])).split())
