"""`correspondent up` and `correspondent run`: the house at work."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from deploy.local import EmbeddedStack
from services.core.house import open_house
from services.core.logging import configure
from services.core.settings import Settings, read_settings
from services.pipeline import NAMES
from services.process import check_names, prepare, until_signal, working
from services.tools.running import stack_settings

console = Console(highlight=False)


def up(context: typer.Context) -> None:
    """Start the embedded stack with every processor, and keep it running until Ctrl-C.

    For trial and small inboxes: one broker, one database, on this machine. Settings are read from
    correspondent.toml and CORRESPONDENT_* variables; without any, there is one trial inbox and mail goes to a sink.
    """
    home: Path = context.obj
    console.print("The embedded stack is for trial and small inboxes; see docs/how-to/scale.md for more.")
    with EmbeddedStack(home, report=lambda line: console.print(f"  {line}", style="dim")) as endpoints:
        settings = stack_settings(endpoints, home.resolve())
        configure(level=settings.log_level)
        inboxes = ", ".join(f"{one.name} <{one.address}>" for one in settings.inboxes)
        console.print(f"Inboxes: {inboxes}\nModel: {settings.model.chosen}\nSent mail: {endpoints.outbox}")
        asyncio.run(_work(settings, frozenset(NAMES)))


def run(
    names: Annotated[list[str], typer.Argument(help="Processors to run in this process, or `all`.")],
) -> None:
    """Run processors on the services that the settings name: how a house is scaled."""
    settings = read_settings()
    configure(level=settings.log_level)
    asyncio.run(_work(settings, check_names(names)))


async def _work(settings: Settings, names: frozenset[str]) -> None:
    await prepare(settings)
    async with open_house(settings) as house, working(house, names):
        console.print("At work. Ctrl-C ends it.")
        await until_signal()
