"""`correspondent dlq`: dead letters, what consumers could not handle."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Annotated

import typer

from services.cli.dlq.failed_turns import reopen, turns
from services.cli.dlq.view import (
    DryRun,
    Error,
    Every,
    Group,
    Id,
    Ids,
    Since,
    Thread,
    Until,
    choice_of,
    show_list,
    show_whole,
)
from services.cli.terminal import After, Limit, cell, console, show_next
from services.core.app import App
from services.core.paging import Page
from services.operations import dead_letters
from services.operations.dead_letters import Choice
from services.operations.dead_letters.dead_letter import DeadLetter
from services.operations.deployment import app_here

typer_app = typer.Typer(no_args_is_help=True, help="Manage dead letters: what a consumer could not handle.")
typer_app.command()(turns)
typer_app.command()(reopen)


@typer_app.command("list")
def list_letters(
    context: typer.Context,
    group: Group = "",
    thread: Thread = "",
    error: Error = "",
    since: Since = None,
    until: Until = None,
    every: Annotated[bool, typer.Option("--all", help="Also those redriven or discarded.")] = False,
    limit: Limit = 200,
    after: After = "",
) -> None:
    """List the dead letters that wait, newest first."""
    choice = choice_of(group, thread, error, since, until)
    page = asyncio.run(_page(context.obj, choice, every, limit, after))
    show_list(page)
    show_next(page)


@typer_app.command()
def show(context: typer.Context, letter_id: Id) -> None:
    """Show one dead letter in full: error, origin and content."""
    [dead_letter] = asyncio.run(_named(context.obj, [letter_id]))
    show_whole(dead_letter)


@typer_app.command()
def redrive(
    context: typer.Context,
    ids: Ids = None,
    group: Group = "",
    thread: Thread = "",
    error: Error = "",
    since: Since = None,
    until: Until = None,
    every: Every = False,
    dry_run: DryRun = False,
) -> None:
    """Redrive dead letters to their own consumer group, in order.

    Each is handled in this process, under the same journal and locks as in the group: do it once the cause is fixed.
    The exit code is 1 if one failed again; it stays a dead letter.
    """
    choice = choice_of(group, thread, error, since, until)
    asyncio.run(_each(context.obj, ids or [], choice, every, dry_run, "redriven", dead_letters.redrive))


@typer_app.command()
def discard(
    context: typer.Context,
    reason: Annotated[str, typer.Option(help="Why; it is kept with the dead letter.")],
    ids: Ids = None,
    group: Group = "",
    thread: Thread = "",
    error: Error = "",
    since: Since = None,
    until: Until = None,
    every: Every = False,
    dry_run: DryRun = False,
) -> None:
    """Discard dead letters; they can still be redriven by id."""
    if not reason.strip():
        raise typer.BadParameter("say why")

    async def act(app: App, dead_letter: DeadLetter) -> None:
        await dead_letters.discard(app, dead_letter, reason.strip())

    choice = choice_of(group, thread, error, since, until)
    asyncio.run(_each(context.obj, ids or [], choice, every, dry_run, "discarded", act))


async def _page(home: Path, choice: Choice, every: bool, limit: int, after: str) -> Page[DeadLetter]:
    async with app_here(home, publishes=False) as app:
        return await dead_letters.page_of(app, choice, every=every, limit=limit, after=after)


async def _named(home: Path, ids: list[str]) -> list[DeadLetter]:
    async with app_here(home, publishes=False) as app:
        return await dead_letters.named(app, ids)


def check_choice(ids: list[str], choice: Choice, every: bool) -> None:
    """Raises where nothing says which dead letters are meant."""
    if not ids and choice == Choice() and not every:
        raise typer.BadParameter(
            "say which dead letters: by id, --group, --thread, --error, --since, --until, or --all"
        )


async def _chosen(app: App, ids: list[str], choice: Choice) -> list[DeadLetter]:
    """The dead letters that are meant: by id in any state, else those waiting."""
    if ids:
        return [one for one in await dead_letters.named(app, ids) if choice.takes(one)]
    return await dead_letters.chosen(app, choice)


async def _each(
    home: Path,
    ids: list[str],
    choice: Choice,
    every: bool,
    dry_run: bool,
    done: str,
    act: Callable[[App, DeadLetter], Awaitable[None]],
) -> None:
    check_choice(ids, choice, every)
    async with app_here(home) as app:
        found = await _chosen(app, ids, choice)
        if dry_run or not found:
            show_list(found)
            return
        failed = [dead_letter for dead_letter in found if not await _one(app, dead_letter, done, act)]
    console.print(f"{len(found) - len(failed)} {done}, {len(failed)} failed.")
    if failed:
        raise typer.Exit(1)


async def _one(app: App, dead_letter: DeadLetter, done: str, act: Callable[[App, DeadLetter], Awaitable[None]]) -> bool:
    try:
        await act(app, dead_letter)
    except Exception as error:
        console.print(cell(f"{str(dead_letter.id)[:8]}  failed: {type(error).__name__}: {error}", 300))
        return False
    console.print(cell(f"{str(dead_letter.id)[:8]}  {done}"))
    return True
