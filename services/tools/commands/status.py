"""`correspondent status`: who consumes what, how far behind, and what waits for a person."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from services.core.db import fetch_all, fetch_one, queries
from services.core.house import House
from services.tools import dead_letters, topics
from services.tools.commands.alerts import show_channels
from services.tools.commands.topics import table_of
from services.tools.running import house_here
from services.tools.shown import age, cell
from services.tools.who import AtWork, at_work

console = Console(highlight=False)
SQL = queries(__file__, "status.sql")


def status(
    context: typer.Context,
    open_minutes: Annotated[float, typer.Option(min=0, help="Show turns open for longer than so many minutes.")] = 10,
) -> None:
    """Show who consumes what and how far behind it is, and what waits: mails, turns, deliveries, dead letters."""
    home: Path = context.obj
    asyncio.run(_status(home, open_minutes))


async def _status(home: Path, open_minutes: float) -> None:
    async with house_here(home) as house:
        args = {"workspace": house.settings.workspace, "now": house.now(), "minutes": open_minutes}
        async with house.database.reading() as conn:
            counts = await fetch_one(conn, SQL.waiting, args)
            turns = await fetch_all(conn, SQL.open_turns, args)
        letters = [one for one in await dead_letters.all_letters(house) if one.state == "waiting"]
        console.print(table_of(await topics.readings(house), house.now()))
        _show_at_work(await at_work(house))
        assert counts is not None
        _show_counts({**counts, "letters": len(letters)})
        _show_turns(house, turns, open_minutes)
        console.print()
        await show_channels(house)


def _show_at_work(found: list[AtWork] | None) -> None:
    if found is None:
        console.print("\nThe broker does not say who is at work.")
        return
    table = Table("consumer", "processes", box=None)
    for one in found:
        table.add_row(one.consumer, cell(one.told, style="" if one.members else "bold red"))
    console.print()
    console.print(table)


def _show_counts(counts: dict[str, Any]) -> None:
    console.print()
    for name, text, remedy in (
        ("unread", "mails not yet read", ""),
        ("unanswered", "mails waiting for an answer", "correspondent mails"),
        ("held", "drafts waiting for a person", "correspondent drafts"),
        ("escalated", "threads that a person has", "correspondent threads --state escalated"),
        ("missed", "deadlines missed and not yet met", "correspondent due"),
        ("unknown", "replies of which nobody knows whether they arrived", "correspondent deliveries --state unknown"),
        (
            "uncopied",
            "replies of the last 7 days without a copy in Sent",
            "correspondent deliveries --state sent",
        ),
        ("letters", "dead letters", "correspondent dlq list"),
        ("unpublished", "events stored and not yet on the log", ""),
        ("overdue", "timers overdue", ""),
    ):
        count = counts[name]
        hint = f"  ({remedy})" if count and remedy else ""
        console.print(cell(f"{count:>6}  {text}{hint}", style="bold" if count else "dim"))


def _show_turns(house: House, turns: list[dict[str, Any]], minutes: float) -> None:
    console.print(cell(f"{len(turns):>6}  turns open for more than {minutes:g} min", style="bold" if turns else "dim"))
    if not turns:
        return
    table = Table("thread", "open for", "state", "subject", box=None)
    for row in turns:
        passed = age(house.now() - row["opened_at"])
        table.add_row(str(row["thread_id"]), passed, cell(row["state"]), cell(row["subject"], 60))
    console.print(table)
