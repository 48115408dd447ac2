"""`correspondent up` and `correspondent run`: processors that run until Ctrl-C.

On a terminal they say in plain lines what they do and wait for; elsewhere each line is a JSON object of the log.
"""

from __future__ import annotations

import asyncio
import logging
import sys
from pathlib import Path
from typing import Annotated

import structlog
import typer

from deploy.local import EmbeddedStack, Endpoints
from services.cli.console import invitation
from services.cli.further import further, usual_number
from services.cli.terminal import console
from services.core.app import open_app
from services.core.logging import configure
from services.core.settings import Settings
from services.operations.deployment import given_settings, settings_here, stack_settings
from services.operations.preparation import prepare
from services.pipeline import NAMES, WEB
from services.process import check_names, until_signal, working

log = structlog.get_logger(__name__)

QUIET = (
    "services.core.bus.faust_source",
    "services.core.bus.faust_consumer",
)  # each start and stop of a part


def up(
    context: typer.Context,
    processes: Annotated[
        int | None,
        typer.Option(min=1, max=12, help="Processes to share the work: half of the cores, at most four, unless given."),
    ] = None,
) -> None:
    """Start the embedded stack and every processor, until Ctrl-C.

    For trial and small inboxes: one broker, one database, on this machine. Settings are read from
    correspondent.toml and CORRESPONDENT_* variables; without any, there is one trial inbox and mail goes to a sink.
    """
    home: Path = context.obj
    _log(given_settings(home=home))  # what is wrong is said before anything starts
    say("The embedded stack is for trial and small inboxes; see docs/how-to/scale.md for more.")
    with EmbeddedStack(home, report=lambda line: say(f"  {line}")) as endpoints:
        settings = stack_settings(endpoints, home.resolve())
        say(f"Model: {settings.model.chosen}")
        for line in ways_out(settings, endpoints):
            say(line)
        asyncio.run(_work(settings, frozenset(NAMES), processes or usual_number()))


def run(
    context: typer.Context,
    names: Annotated[list[str], typer.Argument(help="Processors to run in this process, or `all`.")],
) -> None:
    """Run processors on the servers that the settings name.

    One process may run one processor or several; start as many of each as you like, up to the 12 partitions of a topic.
    In the folder of a `correspondent up` they join that.
    """
    chosen = check_names(names)
    settings = settings_here(context.obj)
    _log(settings)
    asyncio.run(_work(settings, chosen))


def _log(settings: Settings) -> None:
    configure(level=settings.log_level)
    for name in QUIET if settings.log_level == "INFO" else ():
        logging.getLogger(name).setLevel("WARNING")


def ways_out(settings: Settings, endpoints: Endpoints) -> list[str]:
    """Where the replies of each inbox go, a line each."""
    lines = []
    for inbox in settings.inboxes:
        smtp = settings.smtp_of(inbox.name)
        place = f"{smtp.host}:{smtp.port}"
        if (smtp.host, smtp.port) == (endpoints.smtp_host, endpoints.smtp_port):
            place = f"{endpoints.outbox}, a folder: no SMTP server is set"
        lines.append(f"Inbox {inbox.name} <{inbox.address}>: replies go to {place}")
    return lines


def say(line: str) -> None:
    """A plain line on a terminal, an event of the log elsewhere."""
    if sys.stdout.isatty():
        console.print(line, markup=False, soft_wrap=True)
    else:
        log.info(line.strip())


async def _work(settings: Settings, names: frozenset[str], processes: int = 1) -> None:
    await prepare(settings, _waiting)
    async with open_app(settings) as app, working(app, names, _waiting), further(settings, processes):
        if sys.stdout.isatty():  # the log says it elsewhere
            if WEB in names and settings.web.console:
                say(await invitation(app))
            say("Running. Press Ctrl-C to stop.")
        await until_signal()


def _waiting(line: str) -> None:
    say(f"  {line}")
