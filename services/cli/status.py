"""`correspondent status`: who consumes what, how far behind, and what waits for a person."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table

from services.cli.alerts import show_channels
from services.cli.terminal import Terminal, age, cell
from services.cli.topics import table_of
from services.cli.webhooks import show_endpoints
from services.core.app import App
from services.operations import topics
from services.operations.deployment import app_here
from services.operations.group_processes import AtWork, at_work
from services.operations.health.backlog import Backlog, read_backlog
from services.operations.health.state import DEAD_LETTERS, Health, read_health
from services.operations.progress import read_progress

console = Terminal(highlight=False)


def status(
    context: typer.Context,
    open_minutes: Annotated[float, typer.Option(min=0, help="Show turns open for longer than so many minutes.")] = 10,
) -> None:
    """Show consumers with their lag, and what waits.

    Mails, turns, drafts, deliveries, deadlines and dead letters that wait are counted.
    """
    home: Path = context.obj
    asyncio.run(_status(home, open_minutes))


async def _status(home: Path, open_minutes: float) -> None:
    async with app_here(home, publishes=False) as app:
        found = await read_backlog(app, open_minutes)
        progress = await read_progress(app)
        console.print(table_of(await topics.readings(app, progress), app.now()))
        _show_at_work(await at_work(app))
        _show_counts(found)
        _show_turns(app, found.open_turns, open_minutes)
        _show_responses(found.responses)
        _show_health(app, await read_health(app, progress=progress))
        console.print()
        await show_channels(app)
        await show_endpoints(app)


def _show_at_work(found: list[AtWork] | None) -> None:
    if found is None:
        console.print("\nThe broker does not say which consumers are running.")
        return
    table = Table("consumer", "processes", box=None)
    for one in found:
        table.add_row(one.consumer, cell(one.told, style="" if one.members else "bold red"))
    console.print()
    console.print(table)


def _show_health(app: App, found: Health) -> None:
    """The model, and what stands still."""
    console.print()
    if found.model is None:
        console.print(cell("the model: no outage is noted", style="dim"))
    else:
        since, ahead = age(app.now() - found.model.since), age(found.model.next_probe - app.now())
        said = f"the model is away for {since}, its turns wait; next probe in {ahead}: {found.model.error}"
        console.print(cell(said, 300, "bold red"))
    for key, words in found.problems():
        if key != "model" and not key.startswith(DEAD_LETTERS):  # which have lines of their own
            console.print(cell(words, 300, "bold red"))


def _show_counts(found: Backlog) -> None:
    console.print()
    for one in found.waiting:
        hint = f"  ({one.command})" if one.count and one.command else ""
        console.print(cell(f"{one.count:>6}  {one.words}{hint}", style="bold" if one.count else "dim"))


def _show_responses(found: dict[str, Any] | None) -> None:
    """How fast customers were answered in the last 7 days, and whether what was promised was kept."""
    if found and found["sent"]:
        half, most = (age(timedelta(seconds=found[name])) for name in ("half_s", "most_s"))
        said = f"replies sent in 7 days; half of them within {half}, nine of ten within {most}"
        console.print(cell(f"{found['sent']:>6}  {said}", style="dim"))
    if found and found["met"] + found["missed"]:
        said = f"deadlines met in 7 days, {found['missed']} missed"
        console.print(cell(f"{found['met']:>6}  {said}", style="bold" if found["missed"] else "dim"))


def _show_turns(app: App, turns: list[dict[str, Any]], minutes: float) -> None:
    console.print(cell(f"{len(turns):>6}  turns open for more than {minutes:g} min", style="bold" if turns else "dim"))
    if not turns:
        return
    table = Table("thread", "open for", "state", "subject", box=None)
    for row in turns:
        passed = age(app.now() - row["opened_at"])
        table.add_row(str(row["thread_id"]), passed, cell(row["state"]), cell(row["subject"], 60))
    console.print(table)
