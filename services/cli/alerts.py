"""`correspondent alerts`: who is alerted when a person must act, and whether that works."""

from __future__ import annotations

import asyncio
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table

from services.alert_people.channels import Channel, channels
from services.alert_people.digest import WORDS
from services.cli.terminal import After, Limit, Terminal, age, cell, minute, show_findings, show_next
from services.core.app import App
from services.core.db import fetch_all, fetch_one, queries
from services.core.paging import Listing
from services.core.settings import Settings
from services.operations.deployment import app_here, settings_here

typer_app = typer.Typer(invoke_without_command=True, help="Show who is alerted when a human must act.")
console = Terminal(highlight=False)
SQL = queries(__file__, "alerts.sql")
TOLD = Listing("alerts", (("raised_at", "time"), ("alert_id", "id")), descending=True)

NOBODY = "Nobody is alerted when a human must act: name the targets in [alerts]."


@typer_app.callback()
def alerts(
    context: typer.Context,
    limit: Limit = 20,
    after: After = "",
) -> None:
    """Show the targets, whether telling them works, and the newest alerts with what became of each."""
    if context.invoked_subcommand is None:
        asyncio.run(_alerts(context.obj, limit, after))


@typer_app.command("test")
def try_targets(
    context: typer.Context,
    send: Annotated[bool, typer.Option(help="Send a test alert; without, stop before the content.")] = True,
) -> None:
    """Send a test alert to every target and report each step."""
    settings = settings_here(context.obj)
    targets = channels(settings)
    if not targets:
        console.print(cell(NOBODY))
        raise typer.Exit(1)
    good = [asyncio.run(_passes(settings, one, send=send)) for one in targets]
    if not all(good):
        raise typer.Exit(1)


async def show_channels(app: App) -> None:
    """A table of the targets, each with how it stands; what came back; or that nobody is alerted."""
    targets, workspace = channels(app.settings), app.settings.workspace
    if not targets:
        console.print(cell(NOBODY, style="dim"))
        return
    async with app.database.reading() as conn:
        rows = await fetch_all(conn, SQL.channels, {"channels": [one.id for one in targets]})
        returned = await fetch_one(conn, SQL.returned, {"workspace": workspace, "now": app.now()})
    found = {row["channel_id"]: row for row in rows}
    table = Table("alerts go to", "waiting", "how it stands", box=None)
    for one in targets:
        said, good = how(found[one.id], app.now())
        table.add_row(cell(one.label), str(found[one.id]["waiting"]), cell(said, 160, "" if good else "bold red"))
    console.print(table)
    if returned and returned["count"]:
        said = f"{returned['count']:>6}  alerts of the last 7 days came back  (correspondent mails)"
        console.print(cell(said, style="bold"))


def how(row: dict[str, Any], now: datetime) -> tuple[str, bool]:
    """How a channel stands, in words, and whether that is well."""
    if row["state"] is None:
        return "nothing to tell yet", True
    passed = age(now - row["changed_at"])
    if row["state"] == "sent":
        return f"told {passed} ago", True
    if row["state"] == "failed":
        return f"nobody was told, given up {passed} ago: {row['detail']}", False
    if not row["detail"]:
        return "being told", True
    again = f"; tried again in {age(row['retry_at'] - now)}" if row["retry_at"] else ""
    return f"not told for {age(now - row['grouped_at'])}: {row['detail']}{again}", False


async def _alerts(home: Path, limit: int, after: str) -> None:
    async with app_here(home, publishes=False) as app:
        await show_channels(app)
        async with app.database.reading() as conn:
            args = {"workspace": app.settings.workspace} | TOLD.args(after, limit)
            rows = TOLD.page(await fetch_all(conn, SQL.told, args), limit)
        if rows:
            console.print()
            console.print(_told({one.id: one.label for one in channels(app.settings)}, rows))
        show_next(rows)


def _told(labels: dict[Any, str], rows: list[dict[str, Any]]) -> Table:
    table = Table("raised", "what", "thread", "subject", "to", "became", box=None)
    for row in rows:
        label = labels.get(row["channel_id"], "no longer in the settings")
        became = f"{row['state']} {minute(row['changed_at'])}" if row["state"] == "sent" else row["state"]
        what, thread = WORDS.get(row["kind"], row["kind"]), str(row["thread_id"])[:8]
        table.add_row(minute(row["raised_at"]), what, thread, cell(row["subject"], 50), cell(label), became)
    return table


async def _passes(settings: Settings, channel: Channel, *, send: bool) -> bool:
    console.print(cell(channel.label, style="bold"))
    from services.alert_people.check import check_channel

    return show_findings(await check_channel(settings, channel, send=send))
