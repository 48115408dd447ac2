"""`correspondent dlq turns` and `reopen`: turns on which a processor gave up, and for which people were alerted."""

from __future__ import annotations

import asyncio
from datetime import datetime
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from services.cli.dlq.view import choice_of
from services.cli.terminal import After, Limit, Terminal, cell, minute, show_next
from services.core.paging import Listing
from services.operations.dead_letters import Choice
from services.operations.dead_letters.failed_turns import FailedTurn, failed_turns
from services.operations.dead_letters.failed_turns import reopen as ask_to_reopen
from services.operations.deployment import app_here

console = Terminal(highlight=False)
FAILED = Listing("failed-turns", (("failed_at", "time"), ("turn_id", "id")))

Thread = Annotated[str, typer.Option(help="Only the turn of this thread; the beginning of its id will do.")]
Error = Annotated[str, typer.Option(help="Only turns whose error contains this text.")]
Since = Annotated[datetime | None, typer.Option(help="Only turns that failed at this time (UTC) or later.")]
Until = Annotated[datetime | None, typer.Option(help="Only turns that failed before this time (UTC).")]
Every = Annotated[bool, typer.Option("--all", help="All threads whose newest turn failed.")]
DryRun = Annotated[bool, typer.Option(help="Only say which turns are meant.")]


def turns(
    context: typer.Context,
    thread: Thread = "",
    error: Error = "",
    since: Since = None,
    until: Until = None,
    limit: Limit = 200,
    after: After = "",
) -> None:
    """Show the threads whose newest turn failed, oldest first."""
    asyncio.run(_turns(context.obj, choice_of("", thread, error, since, until), limit, after))


def reopen(
    context: typer.Context,
    thread: Thread = "",
    error: Error = "",
    since: Since = None,
    until: Until = None,
    every: Every = False,
    dry_run: DryRun = False,
    by: Annotated[str, typer.Option(help="Who asks, for the thread's log.")] = "operator",
) -> None:
    """Have failed turns tried again: each thread goes on, and its mails are answered in a new turn.

    Ends with 1 where a thread's owner refused.
    """
    choice = choice_of("", thread, error, since, until)
    if choice == Choice() and not every:
        raise typer.BadParameter("say which turns: --thread, --error, --since, --until, or --all")
    asyncio.run(_reopen(context.obj, choice, dry_run, by))


async def _turns(home: Path, choice: Choice, limit: int, after: str) -> None:
    async with app_here(home, publishes=False) as app:
        found = await failed_turns(app, choice)
    page = FAILED.cut(sorted(found, key=lambda one: (one.failed_at, one.turn_id)), after, limit)
    _show(page)
    show_next(page)


async def _reopen(home: Path, choice: Choice, dry_run: bool, by: str) -> None:
    async with app_here(home) as app:
        found = await failed_turns(app, choice)
        if dry_run or not found:
            _show(found)
            return
        refused = 0
        for turn in found:
            why = await ask_to_reopen(app, turn, by)
            refused += bool(why)
            console.print(cell(f"{turn.thread_id}  {f'refused: {why}' if why else 'opened again'}", 300))
    console.print(f"{len(found) - refused} opened again, {refused} refused.")
    if refused:
        raise typer.Exit(1)


def _show(found: list[FailedTurn]) -> None:
    if not found:
        console.print("No failed turns.")
        return
    table = Table("thread", "failed (UTC)", "now", "subject", "error", box=None)
    for one in found:
        told = (cell(one.thread_id), cell(minute(one.failed_at)), cell(one.state), cell(one.subject, 40))
        table.add_row(*told, cell(one.error, 80))
    console.print(table)
