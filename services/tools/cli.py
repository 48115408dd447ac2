"""`correspondent`: what an operator types. Each command is a small module in `commands`."""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from deploy.local import EmbeddedStackFailed
from services.core.errors import CorrespondentError
from services.core.logging import configure
from services.tools.commands import (
    deliveries,
    demo,
    dlq,
    drafts,
    imports,
    inbox,
    knowledge,
    mails,
    memory,
    rebuild,
    replay,
    run,
    settings,
    settle_delivery,
    status,
    suppressions,
    threads,
    topics,
    write,
)

HELP = """An email support agent that remembers whom it is writing to.

Begin with `correspondent demo`. Then `correspondent up` runs a house of your own, and the other commands, in
another terminal of the same folder, talk to it.

Settings: correspondent.toml, or CORRESPONDENT_* in the environment; correspondent.example.toml explains each.
"""

app = typer.Typer(
    no_args_is_help=True, rich_markup_mode="markdown", pretty_exceptions_enable=False, add_completion=False, help=HELP
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
        Path, typer.Option(help="The folder of the house: the embedded stack, blobs, secret.", file_okay=False)
    ] = Path("var"),
    log_level: Annotated[Level, typer.Option(help="What is logged to stderr.", case_sensitive=False)] = Level.WARNING,
) -> None:
    """Options of every command."""
    configure(level=log_level.value)
    context.obj = home


app.command("demo")(demo.demo)
app.command("up")(run.up)
app.command("run")(run.run)
app.command("settings")(settings.settings)
app.command("write")(write.write)
app.command("mails")(mails.mails)
app.command("thread")(threads.thread)
app.command("move")(threads.move)
app.command("drafts")(drafts.drafts)
app.command("approve")(drafts.approve)
app.command("reject")(drafts.reject)
app.command("import")(imports.import_mail)
deliveries.app.command("settle")(settle_delivery.settle)
app.add_typer(deliveries.app, name="deliveries")
app.add_typer(suppressions.app, name="suppressions")
app.command("status")(status.status)
app.add_typer(topics.app, name="topics")
app.add_typer(dlq.app, name="dlq")
app.add_typer(inbox.app, name="inbox")
app.command("replay")(replay.replay_past)
app.command("rebuild")(rebuild.rebuild)
app.add_typer(knowledge.app, name="knowledge")
app.add_typer(memory.app, name="memory")


def main() -> None:
    """Run a command; what goes wrong is said in words, with exit code 2."""
    try:
        app()
    except (CorrespondentError, EmbeddedStackFailed, OSError) as error:
        sys.stderr.write(f"correspondent: {error}\n")
        raise SystemExit(2) from None
