"""`correspondent vectors`: who made the embeddings of facts, passages and messages; embeds those of others again."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Annotated

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from services.cli.terminal import console, plain
from services.core.app import App
from services.core.db import fetch_all
from services.core.db.locks import HeldElsewhere
from services.operations.deployment import app_here
from services.operations.vectors.keep import look
from services.operations.vectors.renewal import SQL, count_lacking


def vectors(
    context: typer.Context,
    renew: Annotated[bool, typer.Option("--renew", help="Embed now, without waiting for the deployment.")] = False,
) -> None:
    """Show which models made the stored embeddings.

    A running deployment embeds what lacks a vector of the embedder in use, after each start and each minute; until
    then it is found by its words. With --renew: exit 1 where something still lacks one at the end.
    """
    home: Path = context.obj
    raise typer.Exit(asyncio.run(_vectors(home, renew=renew)))


async def _vectors(home: Path, *, renew: bool) -> int:
    async with app_here(home, publishes=False) as app:
        if renew:
            await _renew(app)
        left = await _show(app)
    return 1 if renew and left else 0


async def _renew(app: App) -> None:
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("giving vectors", total=None)

        def told(done: int, of: int) -> None:
            bar.update(task, completed=done, total=of)

        try:
            await look(app, told)
        except HeldElsewhere:
            console.print("The deployment is doing so already.")


async def _show(app: App) -> int:
    """The table; how many rows have no vector of the embedder in use."""
    args = {"workspace": app.settings.workspace}
    async with app.database.reading() as conn:
        rows = await fetch_all(conn, SQL.models, args)
        lacking = await count_lacking(conn, app.embedder.name, app.settings.workspace)
    table = Table("vectors of", "facts", "passages", "messages", "", box=None, pad_edge=False)
    for row in rows:
        used = "in use" if row["model"] == app.embedder.name else "found by words alone"
        table.add_row(
            plain(row["model"] or "no model yet"), str(row["facts"]), str(row["passages"]), str(row["said"]), used
        )
    console.print(table if rows else "There are no facts, no passages and no messages yet.")
    console.print(plain(f"The embedder in use is {app.embedder.name}.", "dim"))
    return lacking.total
