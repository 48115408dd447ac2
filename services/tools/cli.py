"""`correspondent`: what an operator types. Each command is a small module in `commands`.

Invariant: a command's module is imported when the command is asked for, so that a short one starts at once.
"""

from __future__ import annotations

import os
import sys
import traceback
from enum import StrEnum
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup
from typer.main import get_command, get_group

from deploy.local import EmbeddedStackFailed
from services.core.errors import CorrespondentError
from services.core.logging import configure
from services.core.settings import CONFIG_FILE

HELP = """An email support agent that remembers whom it is writing to.

Begin with `correspondent demo`. Then `correspondent up` runs a house of your own, and the other commands, in
another terminal of the same folder, talk to it.

Settings: correspondent.toml, or CORRESPONDENT_* in the environment; correspondent.example.toml explains each.
"""

COMMANDS = {  # in the order of the help; each is a function, or an app of its own
    "demo": "demo:demo",
    "up": "run:up",
    "run": "run:run",
    "settings": "settings:settings",
    "write": "write:write",
    "mails": "mails:mails",
    "thread": "threads:thread",
    "why": "why:why",
    "threads": "threads:threads",
    "due": "threads:due",
    "move": "threads:move",
    "mark": "threads:mark",
    "drafts": "drafts:drafts",
    "approve": "drafts:approve",
    "reject": "drafts:reject",
    "import": "imports:import_mail",
    "status": "status:status",
    "replay": "replay:replay_past",
    "rebuild": "rebuild:rebuild",
    "archive": "archive:archive",
    "retention": "retention:retention",
    "backup": "backup:backup",
    "restore": "backup:restore",
    "forget": "forget:forget",
    "export": "forget:export_person",
    "alerts": "alerts:app",
    "keys": "keys:app",
    "deliveries": "deliveries:app",
    "suppressions": "suppressions:app",
    "topics": "topics:app",
    "dlq": "dlq:app",
    "inbox": "inbox:app",
    "knowledge": "knowledge:app",
    "memory": "memory:app",
    "vectors": "vectors:vectors",
    "profile": "profile:profile",
}


class OnDemand(TyperGroup):
    """The commands of `COMMANDS`, each imported when it is asked for."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Their names, in order."""
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The command of this name, or None; typer compares a misspelt one with all that are loaded."""
        for name in [cmd_name] if cmd_name in COMMANDS else COMMANDS:
            if name not in self.commands:
                self.add_command(_load(name), name)
        return super().get_command(ctx, cmd_name)


def _load(name: str) -> Any:
    module, _, attribute = COMMANDS[name].partition(":")
    found = getattr(import_module(f"services.tools.commands.{module}"), attribute)
    if isinstance(found, typer.Typer):
        group = get_group(found)
        group.name = name
        return group
    alone = typer.Typer(rich_markup_mode="markdown", add_completion=False)
    alone.command(name)(found)
    return get_command(alone)


app = typer.Typer(
    cls=OnDemand,
    no_args_is_help=True,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    add_completion=False,
    help=HELP,
)


class Level(StrEnum):
    """What is logged to stderr at least."""

    DEBUG = "DEBUG"
    INFO = "INFO"
    WARNING = "WARNING"
    ERROR = "ERROR"


@app.callback()
def house(
    context: typer.Context,
    home: Annotated[
        Path,
        typer.Option(help=f"The folder of the house: stack, blobs, secret, its own {CONFIG_FILE}.", file_okay=False),
    ] = Path("var"),
    log_level: Annotated[Level, typer.Option(help="What is logged to stderr.", case_sensitive=False)] = Level.WARNING,
) -> None:
    """Options of every command."""
    configure(level=log_level.value)
    own = home / CONFIG_FILE
    if own.is_file():
        os.environ.setdefault("CORRESPONDENT_CONFIG", str(own))
    context.obj = home


def main() -> None:
    """Run a command; what goes wrong is said in words, with exit code 2: 1 is an answer of some commands."""
    try:
        app()
    except Exception as error:
        _say(error)
        raise SystemExit(2) from None


def _say(error: Exception) -> None:
    """What nobody foresaw is said with the place in the code."""
    from psycopg import OperationalError
    from psycopg.errors import InsufficientPrivilege

    foreseen = (CorrespondentError, EmbeddedStackFailed, OSError, OperationalError, InsufficientPrivilege)
    if isinstance(error, foreseen):
        sys.stderr.write(f"correspondent: {str(error).strip() or type(error).__name__}\n")
    else:
        sys.stderr.writelines(traceback.format_exception(error))
