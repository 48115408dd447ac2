"""`correspondent dlq`: dead letters, what consumers could not handle."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Annotated

import typer

from services.core.house import House
from services.tools import dead_letters
from services.tools.commands.dlq_options import DryRun, Error, Every, Group, Id, Ids, Since, Thread, Until, choice_of
from services.tools.commands.dlq_show import show_list, show_whole
from services.tools.commands.dlq_turns import reopen, turns
from services.tools.commands.terminal import console
from services.tools.dead_letters import Choice
from services.tools.letter import Letter
from services.tools.running import house_here
from services.tools.shown import cell

app = typer.Typer(no_args_is_help=True, help="Dead letters: what a consumer could not handle.")
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
) -> None:
    """Show the dead letters that wait, oldest first."""
    choice = choice_of(group, thread, error, since, until)
    letters = asyncio.run(_letters(context.obj))
    show_list([one for one in letters if choice.takes(one) and (every or one.state == "waiting")])


@app.command()
def show(context: typer.Context, letter_id: Id) -> None:
    """Show one dead letter whole: why it failed, where it came from, and what it says."""
    [letter] = dead_letters.by_id(asyncio.run(_letters(context.obj)), [letter_id])
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
    """Have letters handled once more, by their own group alone and in the order in which they failed.

    Each is handled in this process, under the same journal and locks as in the group: do it when the cause is mended.
    Ends with 1 where one failed again; that letter stays.
    """
    choice = choice_of(group, thread, error, since, until)
    asyncio.run(_each(context.obj, ids or [], choice, every, dry_run, "redriven", dead_letters.redrive))


@app.command()
def discard(
    context: typer.Context,
    reason: Annotated[str, typer.Option(help="Why; it is kept with the letter.")],
    ids: Ids = None,
    group: Group = "",
    thread: Thread = "",
    error: Error = "",
    since: Since = None,
    until: Until = None,
    every: Every = False,
    dry_run: DryRun = False,
) -> None:
    """Have letters no longer wait. Their records stay on their topic, and can still be redriven by id."""
    if not reason.strip():
        raise typer.BadParameter("say why")

    async def act(house: House, letter: Letter) -> None:
        await dead_letters.discard(house, letter, reason.strip())

    choice = choice_of(group, thread, error, since, until)
    asyncio.run(_each(context.obj, ids or [], choice, every, dry_run, "discarded", act))


async def _letters(home: Path) -> list[Letter]:
    async with house_here(home) as house:
        return await dead_letters.all_letters(house)


def chosen(letters: list[Letter], ids: list[str], choice: Choice, every: bool) -> list[Letter]:
    """The letters that are meant: by id in any state, else those waiting. Raises where nothing says which."""
    if ids:
        return [one for one in dead_letters.by_id(letters, ids) if choice.takes(one)]
    if choice == Choice() and not every:
        raise typer.BadParameter("say which letters: by id, --group, --thread, --error, --since, --until, or --all")
    return [one for one in letters if choice.takes(one) and one.state == "waiting"]


async def _each(
    home: Path,
    ids: list[str],
    choice: Choice,
    every: bool,
    dry_run: bool,
    done: str,
    act: Callable[[House, Letter], Awaitable[None]],
) -> None:
    async with house_here(home) as house:
        letters = chosen(await dead_letters.all_letters(house), ids, choice, every)
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
