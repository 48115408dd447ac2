"""`correspondent status`: who consumes what, how far behind, and what waits for a person."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table

from schemas.topics import catalogue
from services.cli.alerts import show_channels
from services.cli.shown import Terminal, age, cell
from services.cli.topics import table_of
from services.core.app import App
from services.core.bus.undone_events import low_mark, pairs_of
from services.core.db import fetch_all, fetch_one, queries
from services.operations import dead_letters, topics
from services.operations.deployment import app_here
from services.operations.group_processes import AtWork, at_work
from services.operations.health.state import Health, read_health
from services.operations.progress import read_progress

console = Terminal(highlight=False)
SQL = queries(__file__, "status.sql")


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
        args = {"workspace": app.settings.workspace, "now": app.now(), "minutes": open_minutes}
        async with app.database.reading() as conn:
            low = await low_mark(conn, pairs_of(catalogue().consumers()))
            counts = await fetch_one(conn, SQL.waiting, {**args, "low": low})
            turns = await fetch_all(conn, SQL.open_turns, args)
            responses = await fetch_one(conn, SQL.responses, args)
        letters = await dead_letters.waiting(app)
        progress = await read_progress(app)
        console.print(table_of(await topics.readings(app, progress), app.now()))
        _show_at_work(await at_work(app))
        assert counts is not None
        _show_counts({**counts, "letters": letters})
        _show_turns(app, turns, open_minutes)
        _show_responses(responses)
        _show_health(app, await read_health(app, progress=progress))
        console.print()
        await show_channels(app)


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
        if key != "model":
            console.print(cell(words, 300, "bold red"))


def _show_counts(counts: dict[str, Any]) -> None:
    console.print()
    for name, text, remedy in (
        ("unread", "mails not yet read", ""),
        ("unanswered", "mails waiting for an answer", "correspondent mails"),
        ("held", "drafts waiting for a person", "correspondent drafts"),
        ("escalated", "threads escalated to a person", "correspondent threads --state escalated"),
        ("missed", "deadlines missed and not yet met", "correspondent due"),
        ("unknown", "replies of which nobody knows whether they arrived", "correspondent deliveries --state unknown"),
        (
            "uncopied",
            "replies of the last 7 days without a copy in Sent",
            "correspondent deliveries --state sent",
        ),
        ("letters", "dead letters", "correspondent dlq list"),
        ("unpublished", "events stored and not yet on the log", ""),
        ("refused", "stored events that the broker refuses", "correspondent outbox"),
        ("overdue", "timers overdue", ""),
    ):
        count = counts[name]
        hint = f"  ({remedy})" if count and remedy else ""
        console.print(cell(f"{count:>6}  {text}{hint}", style="bold" if count else "dim"))


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
