"""`correspondent console`: a link that signs in to the console, once."""

from __future__ import annotations

from typing import Annotated

import typer

from services.cli.requests import in_house
from services.cli.terminal import console as terminal
from services.core.app import App
from services.core.errors import Permanent
from services.core.settings import WebSettings
from services.operations import users
from services.operations.sign_in import LINK_LASTS, make_link
from services.operations.users import User

MINUTES = LINK_LASTS.seconds // 60


class ConsoleOff(Permanent):
    """The settings say that there is no console."""


class WhichUser(Permanent):
    """There are several admins, and nobody was named."""


def console(
    context: typer.Context,
    name: Annotated[str, typer.Argument(help="Whose link, by name or address; by default the only admin's.")] = "",
) -> None:
    """Print a link that signs in to the console, once.

    The first one makes the first user, an admin. Later ones sign a user in who
    has no password, or has lost it. Open it within 15 minutes.
    """
    terminal.print(in_house(context, lambda app: link(app, name)), markup=False, soft_wrap=True)


async def link(app: App, name: str = "") -> str:
    """The address of a new one-time link. Raises `UserUnknown`, `WhichUser`."""
    return link_address(app.settings.web, await make_link(app, await _whose(app, name)))


def link_address(web: WebSettings, token: str) -> str:
    """Where a link is opened."""
    return f"{address(web)}/console/sign-in/{token}"


async def invitation(app: App) -> str:
    """Where the console is, a line: before there are users, the link that makes the first."""
    if not await users.is_empty(app):
        return f"Console: {address(app.settings.web)}/console"
    return f"Console, once, for {MINUTES} minutes: {await link(app)}"


async def signed_in(app: App, name: str) -> str:
    """A link that signs an admin of this name in, a line; they are made where nobody is a user yet."""
    if await users.is_empty(app):
        await users.add_user(app, name, "admin", by="", joined=True)
    return f"Console, once, for {MINUTES} minutes: {await link(app, name)}"


def address(web: WebSettings) -> str:
    """Where people reach the web server. Raises `ConsoleOff`."""
    if not web.console:
        raise ConsoleOff("this deployment serves no console: web.console is false")
    return web.console_url.rstrip("/") or f"http://{_name(web.host)}:{web.port}"


async def _whose(app: App, name: str) -> User | None:
    if name:
        return await users.user_named(app, name)
    if await users.is_empty(app):
        return None
    admins = [one for one in await users.list_users(app) if one.role == "admin" and one.joined_at]
    if len(admins) != 1:
        raise WhichUser(f"say whose link: correspondent console NAME, one of {', '.join(one.name for one in admins)}")
    return admins[0]


def _name(host: str) -> str:
    """The host in an address: that of this machine where the server listens on all of them."""
    if host in ("0.0.0.0", "::"):
        return "127.0.0.1"
    return f"[{host}]" if ":" in host else host
