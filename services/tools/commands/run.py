"""`correspondent up` and `correspondent run`: the house at work."""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path
from typing import Annotated

import typer

from deploy.local import EmbeddedStack, Endpoints
from services.core.house import open_house
from services.core.logging import configure
from services.core.settings import Settings
from services.pipeline import NAMES
from services.process import check_names, prepare, until_signal, working
from services.tools.commands.terminal import console
from services.tools.running import given_settings, stack_settings

QUIET = (
    "services.core.bus.faust_source",
    "services.core.bus.faust_consumer",
    "uvicorn.error",
)  # each start and stop of a part


def up(context: typer.Context) -> None:
    """Start the embedded stack with every processor, and keep it running until Ctrl-C.

    For trial and small inboxes: one broker, one database, on this machine. Settings are read from
    correspondent.toml and CORRESPONDENT_* variables; without any, there is one trial inbox and mail goes to a sink.
    """
    home: Path = context.obj
    given_settings(home=home)  # what is wrong is said before anything starts
    console.print("The embedded stack is for trial and small inboxes; see docs/how-to/scale.md for more.")
    with EmbeddedStack(home, report=lambda line: console.print(f"  {line}", style="dim")) as endpoints:
        settings = stack_settings(endpoints, home.resolve())
        _log(settings)
        inboxes = ", ".join(f"{one.name} <{one.address}>" for one in settings.inboxes)
        console.print(
            f"Inboxes: {inboxes}\nModel: {settings.model.chosen}\nReplies go to: {_way_out(settings, endpoints)}"
        )
        asyncio.run(_work(settings, frozenset(NAMES)))


def run(
    names: Annotated[list[str], typer.Argument(help="Processors to run in this process, or `all`.")],
) -> None:
    """Run processors on the services that the settings name: how a house is scaled.

    One process may run one processor or several; start as many of each as you like, up to the 12 partitions of a topic.
    """
    chosen = check_names(names)
    settings = given_settings()
    _log(settings)
    asyncio.run(_work(settings, chosen))


def _log(settings: Settings) -> None:
    configure(level=settings.log_level)
    for name in QUIET if settings.log_level == "INFO" else ():
        logging.getLogger(name).setLevel("WARNING")


def _way_out(settings: Settings, endpoints: Endpoints) -> str:
    if (settings.smtp.host, settings.smtp.port) == (endpoints.smtp_host, endpoints.smtp_port):
        return f"{endpoints.outbox}, a folder: no SMTP server is set"
    return f"{settings.smtp.host}:{settings.smtp.port}"


async def _work(settings: Settings, names: frozenset[str]) -> None:
    await prepare(settings)
    async with open_house(settings) as house, working(house, names):
        console.print("At work. Ctrl-C ends it.")
        await until_signal()
