"""`correspondent console`: a link that signs in to the console, once."""

from __future__ import annotations

import typer

from services.cli.requests import in_house
from services.cli.terminal import console as terminal
from services.core.app import App
from services.operations.sign_in import LINK_LASTS, make_link


def console(context: typer.Context) -> None:
    """Print a link that signs in to the console, once.

    Open it within 15 minutes. It asks for your name, which is recorded with what you do.
    """
    terminal.print(in_house(context, link), markup=False, soft_wrap=True)


async def link(app: App) -> str:
    """The address of a new one-time link."""
    return f"{address(app)}/console/sign-in/{await make_link(app)}"


async def invitation(app: App) -> str:
    """The link with what it is, a line."""
    return f"Console, once, for {LINK_LASTS.seconds // 60} minutes: {await link(app)}"


def address(app: App) -> str:
    """Where people reach the web server."""
    web = app.settings.web
    host = f"[{web.host}]" if ":" in web.host else web.host
    return (web.console_url or f"http://{'127.0.0.1' if web.host in ('0.0.0.0', '::') else host}:{web.port}").rstrip(
        "/"
    )
