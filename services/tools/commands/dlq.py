"""`correspondent dlq`: dead letters, what consumers could not handle."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Annotated

import typer

from services.core.house import House
from services.core.paging import Page
from services.tools import dead_letters
from services.tools.commands.dlq_options import DryRun, Error, Every, Group, Id, Ids, Since, Thread, Until, choice_of
from services.tools.commands.dlq_show import show_list, show_whole
from services.tools.commands.dlq_turns import reopen, turns
from services.tools.commands.paging import After, Limit, show_next
from services.tools.commands.terminal import console
from services.tools.dead_letters import Choice
from services.tools.letter import Letter
from services.tools.running import house_here
from services.tools.shown import cell

app = typer.Typer(no_args_is_help=True, help="Manage dead letters: what a consumer could not handle.")
app.command()(turns)
app.command()(reopen)


@app.command("list")
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


@app.command()
def show(context: typer.Context, letter_id: Id) -> None:
    """Show one dead letter in full: error, origin and content."""
    [letter] = asyncio.run(_named(context.obj, [letter_id]))
    show_whole(letter)


@app.command()
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


@app.command()
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

    async def act(house: House, letter: Letter) -> None:
        await dead_letters.discard(house, letter, reason.strip())

    choice = choice_of(group, thread, error, since, until)
    asyncio.run(_each(context.obj, ids or [], choice, every, dry_run, "discarded", act))


async def _page(home: Path, choice: Choice, every: bool, limit: int, after: str) -> Page[Letter]:
    async with house_here(home, publishes=False) as house:
        return await dead_letters.page_of(house, choice, every=every, limit=limit, after=after)


async def _named(home: Path, ids: list[str]) -> list[Letter]:
    async with house_here(home, publishes=False) as house:
        return await dead_letters.named(house, ids)


def check_choice(ids: list[str], choice: Choice, every: bool) -> None:
    """Raises where nothing says which letters are meant."""
    if not ids and choice == Choice() and not every:
        raise typer.BadParameter(
            "say which dead letters: by id, --group, --thread, --error, --since, --until, or --all"
        )


async def _chosen(house: House, ids: list[str], choice: Choice) -> list[Letter]:
    """The letters that are meant: by id in any state, else those waiting."""
    if ids:
        return [one for one in await dead_letters.named(house, ids) if choice.takes(one)]
    return await dead_letters.chosen(house, choice)


async def _each(
    home: Path,
    ids: list[str],
    choice: Choice,
    every: bool,
    dry_run: bool,
    done: str,
    act: Callable[[House, Letter], Awaitable[None]],
) -> None:
    check_choice(ids, choice, every)
    async with house_here(home) as house:
        letters = await _chosen(house, ids, choice)
        if dry_run or not letters:
            show_list(letters)
            return
        failed = [letter for letter in letters if not await _one(house, letter, done, act)]
    console.print(f"{len(letters) - len(failed)} {done}, {len(failed)} failed.")
    if failed:
        raise typer.Exit(1)


async def _one(house: House, letter: Letter, done: str, act: Callable[[House, Letter], Awaitable[None]]) -> bool:
    try:
        await act(house, letter)
    except Exception as error:
        console.print(cell(f"{str(letter.id)[:8]}  failed: {type(error).__name__}: {error}", 300))
        return False
    console.print(cell(f"{str(letter.id)[:8]}  {done}"))
    return True
