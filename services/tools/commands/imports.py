"""`correspondent import`: old mail as history, or files as live mail."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Annotated, Literal

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from services.receive_email.files import Progress as State
from services.receive_email.files import import_path
from services.tools.commands.terminal import console
from services.tools.running import house_here, inbox_of
from services.tools.settle import unfinished


def import_mail(
    context: typer.Context,
    path: Annotated[Path, typer.Argument(help="An .eml file, an mbox, a Maildir, or a folder of these.", exists=True)],
    inbox: Annotated[str, typer.Option(help="The inbox that the mail belongs to; by default the first.")] = "",
    live: Annotated[
        bool, typer.Option("--live", help="Answer the mails as if they came now, instead of history.")
    ] = False,
    vouched_by: Annotated[str, typer.Option(help="Your name, if you vouch that the senders are who they say.")] = "",
) -> None:
    """Import mail. As history (the default) it makes threads and facts, never a reply. Safe to run again."""
    home: Path = context.obj
    asyncio.run(_import(home, path, inbox, "live" if live else "history", vouched_by))


async def _import(home: Path, path: Path, inbox: str, mode: Literal["live", "history"], vouched_by: str) -> None:
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    async with house_here(home) as house:
        to = inbox_of(house, inbox)
        with Progress(*columns, console=console) as bar:
            taking = bar.add_task("importing", total=None)

            def show(state: State) -> None:
                bar.update(taking, total=state.total, completed=state.read)

            done = await import_path(house, to, path, mode=mode, vouched_by=vouched_by, progress=show)
            working = bar.add_task("reading and learning", total=await unfinished(house))
            total = 0
            while left := await unfinished(house):
                total = max(total, left)
                bar.update(working, total=total, completed=total - left)
                await asyncio.sleep(0.5)
            bar.update(working, total=total, completed=total)
    console.print(f"{done.read} mails read, {done.new} new. `correspondent mails` shows what became of them.")
