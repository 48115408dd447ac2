"""`correspondent suppressions`: addresses that get no mail of ours, and taking one off the list."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table

from schemas.events.replies import SuppressionLiftRequested
from services.cli.paging import After, Limit, show_next
from services.cli.terminal import console, plain, short
from services.core.app import App
from services.core.bus.envelope import first
from services.core.clock import random_id
from services.core.db import fetch_one, queries
from services.core.errors import Permanent
from services.mail.mailbox import MailboxKey
from services.operations.deliveries.listing import suppressed
from services.operations.deployment import app_here
from services.operations.idle import newest, until_idle

typer_app = typer.Typer(no_args_is_help=True, help="List addresses that get no mail, or lift one.")
SQL = queries(__file__, "suppressions.sql")


class NotSuppressed(Permanent):
    """Only an address on the list can be taken off it."""


@typer_app.command("list")
def show(context: typer.Context, limit: Limit = 50, after: After = "") -> None:
    """List suppressed addresses with reason and thread, newest first."""
    home: Path = context.obj
    asyncio.run(show_list(home, limit, after))


@typer_app.command("lift")
def lift(
    context: typer.Context,
    address: Annotated[str, typer.Argument(help="The address, as `suppressions list` shows it.")],
    reason: Annotated[str, typer.Option(help="Why it may be written to again, for the log.")] = "",
    by: Annotated[str, typer.Option(help="Who says so, for the log.")] = "operator",
) -> None:
    """Lift a suppression; a later bounce or complaint restores it."""
    home: Path = context.obj
    asyncio.run(lift_address(home, address, reason=reason, by=by))


async def show_list(home: Path, limit: int = 50, after: str = "") -> None:
    """Print a page of the list."""
    async with app_here(home, publishes=False) as app, app.database.reading() as conn:
        rows = await suppressed(conn, app.settings.workspace, limit=limit, after=after)
    console.print(_table(rows) if rows else "No address is suppressed.")
    show_next(rows)


async def lift_address(home: Path, address: str, *, reason: str, by: str) -> None:
    """Ask for it, and wait until it is so. Raises `NotSuppressed`."""
    async with app_here(home) as app:
        row = await _suppressed(app, address)
        if row is None or row["thread_id"] is None:
            raise NotSuppressed(f"{address} is not suppressed; `correspondent suppressions list` shows what is")
        asked = SuppressionLiftRequested(reply_id=row["reply_id"], thread_id=row["thread_id"], reason=reason, by=by)
        workspace = app.settings.workspace
        from services.core.bus.runner import enter

        since = await newest(app)
        await enter(app, first(asked, id=random_id(), source="console", time=app.now(), workspace=workspace))
        await until_idle(app, since=since)
        still = await _suppressed(app, address)
    console.print(plain(f"{row['addr']} is {'still suppressed' if still else 'written to again'}."))


async def _suppressed(app: App, address: str) -> dict[str, Any] | None:
    args = {"workspace": app.settings.workspace, "addr": MailboxKey(address)}
    async with app.database.reading() as conn:
        return await fetch_one(conn, SQL.suppressed, args)


def _table(rows: list[dict[str, Any]]) -> Table:
    table = Table(box=None, padding=(0, 1))
    table.add_column("since", no_wrap=True)
    table.add_column("thread", no_wrap=True)
    table.add_column("why", no_wrap=True)
    table.add_column("address, and what its server said")
    for row in rows:
        said = plain(f"{row['addr']}\n{row['detail'] or ''}".rstrip())
        table.add_row(f"{row['at']:%Y-%m-%d %H:%M}", short(row["thread_id"]), plain(row["reason"]), said)
    return table
