"""`correspondent retention`: what the settings keep for a time only, what of it would go now, and having it go."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from services.cli.terminal import console, minute, plain
from services.core.app import App
from services.core.settings import Settings
from services.operations.daily import last
from services.operations.deployment import app_here
from services.operations.retention import journal
from services.operations.retention.rounds import Clearing, today
from services.operations.retention.run import RETENTION, Done, preview, run
from services.operations.retention.steps import PLAN, STEPS


def retention(
    context: typer.Context,
    go: Annotated[bool, typer.Option("--run", help="Have it go now, without waiting for the daily round.")] = False,
) -> None:
    """Show what is older than its retention; nothing changes.

    How long things are kept is set in [retention] and [archive].

    A running deployment goes through it once a day. With --run: exit 1 where a step failed.
    """
    home: Path = context.obj
    raise typer.Exit(asyncio.run(_retention(home, go=go)))


async def _retention(home: Path, *, go: bool) -> int:
    async with app_here(home, publishes=go) as app:
        clearing = Clearing(app, today(app.now()))
        found = [one async for one in (run(clearing) if go else preview(clearing))]
        if found:
            console.print(_table(found, go=go))
        if any(one.step.setting == "journal_days" for one in found) and (
            kept := await journal.kept_for_events(clearing)
        ):
            console.print(f"{kept} older days of the journal stay: of their events, some are in the table still.")
        _say_kept(app.settings)
        await _say_last(app)
    return 1 if any(one.error for one in found) else 0


def _table(found: list[Done], *, go: bool) -> Table:
    table = Table(box=None, pad_edge=False)
    table.add_column("")
    table.add_column("after", justify="right")
    table.add_column("went" if go else "would go", justify="right")
    table.add_column("")
    for one in found:
        table.add_row(one.step.name, one.after, str(one.count), _said(one, go=go))
    return table


def _said(one: Done, *, go: bool) -> Text:
    if one.error:
        return plain(f"failed: {one.error}", "red")
    return plain(one.step.asks if go and one.count else "", "dim")


def _say_kept(settings: Settings) -> None:
    wanted = {one.setting for one in STEPS if one.days(settings)}
    if not settings.condense.enabled:
        wanted.add(PLAN)  # nothing is told that could be kept
    kept = dict.fromkeys(one.setting for one in STEPS if one.setting not in wanted)
    if kept:
        console.print(plain(f"Kept for good: {', '.join(_off(settings, one) for one in kept)}.", "dim"))


def _off(settings: Settings, setting: str) -> str:
    if setting == PLAN:
        return "retention.periods has no plan"
    if setting != "archive.after_days":
        return f"retention.{setting} is 0"
    return "archive.url is not set" if settings.archive.daily is None else "archive.daily is false"


async def _say_last(app: App) -> None:
    row = await last(RETENTION.name, app)
    console.print(plain(_last(row), "dim"))


def _last(row: dict[str, Any] | None) -> str:
    if row is None:
        return "The deployment has not gone through this by itself yet."
    begun = f"The deployment last began at {minute(row['begun_at'])} UTC"
    if failed := row["report"].get("failed"):
        return f"{begun}; it could not finish: {', '.join(failed)}."
    if row["done_at"] is None or row["done_at"] < row["begun_at"]:
        return f"{begun}, and has not come to the end."
    return f"{begun}, and came to the end."
