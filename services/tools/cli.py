"""`correspondent`: what an operator types. Each command is a small module in `commands`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from deploy.local import EmbeddedStackFailed
from services.core.errors import CorrespondentError
from services.core.logging import configure
from services.tools.commands import deliveries, demo, drafts, imports, inbox, knowledge, mails, run, threads, write

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    help="An email support agent that remembers whom it is writing to.\n\n"
    "Begin with [b]correspondent demo[/b]; then [b]correspondent up[/b] runs a house of your own.",
)


@app.callback()
def house(
    context: typer.Context,
    home: Annotated[Path, typer.Option(help="Where blobs and the embedded stack keep their files.")] = Path("var"),
    log_level: Annotated[str, typer.Option(help="DEBUG, INFO, WARNING or ERROR.")] = "WARNING",
) -> None:
    """Options of every command."""
    configure(level=log_level.upper())
    context.obj = home


app.command("demo")(demo.demo)
app.command("up")(run.up)
app.command("run")(run.run)
app.command("write")(write.write)
app.command("mails")(mails.mails)
app.command("thread")(threads.thread)
app.command("move")(threads.move)
app.command("deliveries")(deliveries.deliveries)
app.command("drafts")(drafts.drafts)
app.command("approve")(drafts.approve)
app.command("reject")(drafts.reject)
app.command("import")(imports.import_mail)
app.add_typer(inbox.app, name="inbox")
app.add_typer(knowledge.app, name="knowledge")


def main() -> None:
    """Run a command; what goes wrong is said in one line, with exit code 2."""
    try:
        app()
    except (CorrespondentError, EmbeddedStackFailed) as error:
        sys.stderr.write(f"correspondent: {error}\n")
        raise SystemExit(2) from None
