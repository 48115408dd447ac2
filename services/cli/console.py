"""`correspondent console`: a link that signs in to the console, once."""

from __future__ import annotations

import typer

from services.cli.requests import in_house
from services.cli.terminal import console as terminal
from services.core.app import App
from services.core.errors import Permanent
from services.core.settings import WebSettings
from services.operations.sign_in import LINK_LASTS, make_link


class ConsoleOff(Permanent):
    """The settings say that there is no console."""


def console(context: typer.Context) -> None:
    """Print a link that signs in to the console, once.

    Open it within 15 minutes. It asks for your name, which is recorded with what you do.
    """
    terminal.print(in_house(context, link), markup=False, soft_wrap=True)


async def link(app: App) -> str:
    """The address of a new one-time link."""
    return f"{address(app.settings.web)}/console/sign-in/{await make_link(app)}"


async def invitation(app: App) -> str:
    """The link with what it is, a line."""
    return f"Console, once, for {LINK_LASTS.seconds // 60} minutes: {await link(app)}"


def address(web: WebSettings) -> str:
    """Where people reach the web server. Raises `ConsoleOff`."""
    if not web.console:
        raise ConsoleOff("this deployment serves no console: web.console is false")
    return web.console_url.rstrip("/") or f"http://{_name(web.host)}:{web.port}"


def _name(host: str) -> str:
    """The host in an address: that of this machine where the server listens on all of them."""
    if host in ("0.0.0.0", "::"):
        return "127.0.0.1"
    return f"[{host}]" if ":" in host else host
