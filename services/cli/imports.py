"""`correspondent import`: old mail as history, or files as live mail."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Annotated, Literal

import typer

from services.cli.terminal import console
from services.cli.waiting import Wait, progress_bar, still_at_work, watch
from services.operations.deployment import app_here, inbox_of
from services.operations.idle import newest, unfinished
from services.operations.learning import unlearned
from services.receive_email.files import Progress as State
from services.receive_email.files import import_path


def import_mail(
    context: typer.Context,
    path: Annotated[Path, typer.Argument(help="An .eml file, an mbox, a Maildir, or a folder of these.", exists=True)],
    inbox: Annotated[str, typer.Option(help="The inbox that the mail belongs to; by default the first.")] = "",
    live: Annotated[
        bool, typer.Option("--live", help="Answer the mails as if they came now, instead of history.")
    ] = False,
    vouched_by: Annotated[str, typer.Option(help="Your name, if you vouch that the senders are who they say.")] = "",
    wait: Wait = 600,
) -> None:
    """Import mail as history, or as new mail to be answered.

    History (the default) makes threads and facts, and is never answered. Importing again is safe.
    """
    home: Path = context.obj
    raise typer.Exit(asyncio.run(_import(home, path, inbox, "live" if live else "history", vouched_by, wait)))


async def _import(
    home: Path, path: Path, inbox: str, mode: Literal["live", "history"], vouched_by: str, wait: float
) -> int:
    async with app_here(home) as app:
        to = inbox_of(app, inbox)
        since = await newest(app)
        with progress_bar() as bar:
            taking = bar.add_task("importing", total=None)

            def show(state: State) -> None:
                bar.update(taking, total=state.total, completed=state.read)

            done = await import_path(app, to, path, mode=mode, vouched_by=vouched_by, progress=show)
            left = await watch(bar, "reading and learning", lambda: unfinished(app, since=since), wait)
        learning = await unlearned(app)
    console.print(f"{done.read} mails read, {done.new} new. `correspondent mails` shows what became of them.")
    if told := learning.words:
        console.print(f"{told[0].upper()}{told[1:]}.")
    if left and wait:
        console.print(still_at_work(left, wait))
    return 1 if left and wait else 0
