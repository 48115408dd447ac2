"""`correspondent dlq`: dead letters, what consumers could not handle."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from services.core.house import House
from services.tools import dead_letters
from services.tools.dead_letters import Choice, Letter
from services.tools.running import house_here
from services.tools.shown import cell, lines, minute

console = Console(highlight=False)
app = typer.Typer(no_args_is_help=True, help="Dead letters: what a consumer could not handle.")
LONGEST_VALUE = 20_000  # characters shown of a value

Ids = Annotated[list[str] | None, typer.Argument(help="Ids as `dlq list` shows them; their beginning will do.")]
Id = Annotated[str, typer.Argument(help="The letter's id as `dlq list` shows it; its beginning will do.")]
Group = Annotated[str, typer.Option(help="Only letters of this consumer group, e.g. learn_facts.")]
Thread = Annotated[str, typer.Option(help="Only letters about this thread, or with this key.")]
Error = Annotated[str, typer.Option(help="Only letters whose error contains this text.")]
Since = Annotated[datetime | None, typer.Option(help="Only letters that failed at this time (UTC) or later.")]
Until = Annotated[datetime | None, typer.Option(help="Only letters that failed before this time (UTC).")]
Every = Annotated[bool, typer.Option("--all", help="All letters that wait.")]
DryRun = Annotated[bool, typer.Option(help="Only say which letters are meant.")]


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
    choice = _choice(group, thread, error, since, until)
    letters = asyncio.run(_letters(context.obj))
    _list([one for one in letters if choice.takes(one) and (every or one.state == "waiting")])


@app.command()
def show(context: typer.Context, letter_id: Id) -> None:
    """Show one dead letter whole: why it failed, where it came from, and what it says."""
    [letter] = dead_letters.by_id(asyncio.run(_letters(context.obj)), [letter_id])
    _show(letter)


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
    choice = _choice(group, thread, error, since, until)
    asyncio.run(_each(context.obj, ids or [], choice, every, dry_run, "redriven", dead_letters.redrive))


@app.command()
def discard(
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
    """Have letters no longer wait. Their records stay on their topic, and can still be redriven by id."""
    choice = _choice(group, thread, error, since, until)
    asyncio.run(_each(context.obj, ids or [], choice, every, dry_run, "discarded", dead_letters.discard))


async def _letters(home: Path) -> list[Letter]:
    async with house_here(home) as house:
        return await dead_letters.all_letters(house)


def _choice(group: str, thread: str, error: str, since: datetime | None, until: datetime | None) -> Choice:
    return Choice(group, thread, error, since and since.replace(tzinfo=UTC), until and until.replace(tzinfo=UTC))


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
            _list(letters)
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


def _list(letters: list[Letter]) -> None:
    if not letters:
        console.print("No dead letters.")
        return
    table = Table("id", "failed (UTC)", "group", "event", "thread or key", "error", "state", box=None)
    table.columns[4].overflow = "fold"
    for one in letters:
        table.add_row(
            cell(str(one.id)[:8]),
            cell(minute(one.failed_at)),
            cell(one.group, 40),
            cell(one.event.type if one.event else "unreadable", 40),
            cell(one.thread, 36),
            cell(one.error, 80),
            cell(one.state),
        )
    console.print(table)


def _show(letter: Letter) -> None:
    came = letter.original
    said = [
        ("id", str(letter.id)),
        ("state", letter.state),
        ("group", letter.group),
        ("from", f"{came.topic}, partition {came.partition}, offset {came.offset}" if came else "it does not say"),
        ("failed", f"{letter.failed_at.isoformat()}, after {letter.attempts} attempts, code {letter.code_version}"),
        ("error", letter.error),
        ("event", letter.event.type if letter.event else f"unreadable: {letter.unreadable}"),
        ("thread or key", letter.thread),
    ]
    for name, value in said:
        console.print(cell(f"{name:<14} {value}", 2000))
    console.print("\nHeaders", style="bold")
    for name, raw in letter.record.headers:
        console.print(cell(f"{name}: {raw.decode('utf-8', 'backslashreplace')}", 500))
    console.print("\nValue", style="bold")
    console.print(lines(_value(letter), LONGEST_VALUE), markup=False)


def _value(letter: Letter) -> str:
    if letter.event:
        return letter.event.data.model_dump_json(indent=2)
    return (letter.record.value or b"(none)").decode("utf-8", "backslashreplace")
