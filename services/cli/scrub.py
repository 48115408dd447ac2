"""`correspondent scrub`: rows that were deleted leave the disk of the database, too."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Annotated

import typer

from services.cli.terminal import console, plain
from services.core.app import App
from services.operations.deployment import app_here
from services.operations.scrub.run import Scrubbed, mark_all, scrub


def scrub_disk(
    context: typer.Context,
    everything: Annotated[
        bool, typer.Option("--all", help="Every table, also where nobody was erased: after retention, for example.")
    ] = False,
) -> None:
    """Rewrite the tables that held an erased person.

    The write-ahead log is recycled, too. Each table is locked for a moment.
    """
    home: Path = context.obj
    raise typer.Exit(asyncio.run(_scrub(home, everything)))


async def _scrub(home: Path, everything: bool) -> int:
    async with app_here(home) as app:
        if everything:
            await mark_all(app)
        done = await scrub_and_say(app)
        if done == Scrubbed():
            console.print("Nothing to scrub: nobody was erased since the last time.")
    return 1 if done.left else 0


async def scrub_and_say(app: App) -> Scrubbed:
    """Scrub, and say what was done and what was not."""
    done = await scrub(app)
    if done.tables or done.log_files:
        console.print(
            f"Scrubbed: {done.tables} tables rewritten, {done.log_files} files of the write-ahead log written over."
        )
    for one in done.left:
        console.print(plain(f"  not scrubbed: {one.place}: {one.reason}", "yellow"))
    return done
