"""`correspondent`: what an operator types. Each command is a small module or package here.

Invariant: a command's module is imported when the command is asked for, and everything heavy in it when it is needed:
`tests/unit/cli/test_cli_loading.py` names what the help page may not import, `tests/support/queries.py` what a query.
"""

from __future__ import annotations

import gc
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

from services.cli.command_table import COMMANDS
from services.cli.usage import explain, no_such_command
from services.core.errors import CorrespondentError
from services.core.printable import printable

CONFIG_FILE = "correspondent.toml"
UsageError: type[Exception] = typer.BadParameter.__mro__[1]  # the base of what is typed wrong has no public name

HELP = """An email support agent that remembers whom it is writing to.

Begin with `correspondent demo`. Then `correspondent up` runs a deployment of your own, and the other commands, in
another terminal of the same folder, talk to it.

Settings: correspondent.toml, or CORRESPONDENT_* in the environment; correspondent.example.toml explains each.
"""


class OnDemand(TyperGroup):
    """The commands of `COMMANDS`, each imported when it is asked for; the page that lists them imports none."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Their names, in order."""
        return list(COMMANDS)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """One line for each."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, entry.line) for name, entry in COMMANDS.items()])

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The command of this name, or None."""
        if cmd_name in COMMANDS and cmd_name not in self.commands:
            self.add_command(_load(cmd_name), cmd_name)
            _collect_from_here()
        return super().get_command(ctx, cmd_name)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command that is typed; of a name that is none it is said what was meant, and nothing is loaded for it."""
        if args[0] not in COMMANDS and not args[0].startswith("-"):
            ctx.fail(no_such_command(args))
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        """Run what was typed, or say plainly what is wrong with it."""
        try:
            return super().invoke(ctx)
        except UsageError as error:
            explain(error)
            raise


def _load(name: str) -> Any:
    import services.core.logging  # noqa: F401 - before whatever loads rich, which structlog would then load whole

    module, _, attribute = COMMANDS[name].target.partition(":")
    found = getattr(import_module(f"services.cli.{module}"), attribute)
    if isinstance(found, typer.Typer):
        found.rich_markup_mode = None  # pages in colour take another quarter of a second
        group = get_group(found)
        group.name = name
        return group
    alone = typer.Typer(rich_markup_mode=None, add_completion=False)
    alone.command(name)(found)
    return get_command(alone)


def _collect_from_here() -> None:
    """Turn the garbage collector on, for what is made from here on alone.

    What modules made stays for good: a quarter of a query's CPU went into looking through it, while they were loaded
    and at the end.
    """
    gc.freeze()
    gc.enable()


app = typer.Typer(
    cls=OnDemand,
    no_args_is_help=True,
    rich_markup_mode=None,
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
def options(
    context: typer.Context,
    home: Annotated[
        Path,
        typer.Option(
            help=f"The folder of the deployment: stack, blobs, secret, its own {CONFIG_FILE}.", file_okay=False
        ),
    ] = Path("var"),
    log_level: Annotated[Level, typer.Option(help="What is logged to stderr.", case_sensitive=False)] = Level.WARNING,
) -> None:
    """Options of every command."""
    from services.core.logging import configure

    configure(level=log_level.value)
    own = home / CONFIG_FILE
    if own.is_file():
        os.environ.setdefault("CORRESPONDENT_CONFIG", str(own))
    context.obj = home


def main() -> None:
    """Run a command; what goes wrong is said in words, with exit code 2: 1 is an answer of some commands."""
    gc.disable()
    try:
        app()
    except Exception as error:
        _say(error)
        raise SystemExit(2) from None
    finally:
        _collect_from_here()


def _say(error: Exception) -> None:
    """What nobody foresaw is said with the place in the code."""
    from psycopg import OperationalError
    from psycopg.errors import InsufficientPrivilege

    from deploy.local import EmbeddedStackFailed

    foreseen = (CorrespondentError, EmbeddedStackFailed, OSError, OperationalError, InsufficientPrivilege)
    if isinstance(error, foreseen):
        sys.stderr.write(printable(f"correspondent: {str(error).strip() or type(error).__name__}\n", keep="\n"))
    else:
        sys.stderr.writelines(printable(line, keep="\n") for line in traceback.format_exception(error))
