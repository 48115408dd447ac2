"""`correspondent suppressions`: addresses that get no mail of ours, and taking one off the list."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table

from services.cli.terminal import After, Limit, console, plain, short, show_next
from services.operations import deliveries
from services.operations.deliveries import suppressed
from services.operations.deployment import app_here
from services.operations.requests import WAIT_S

typer_app = typer.Typer(no_args_is_help=True, help="List addresses that get no mail, or lift one.")


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
    """Ask for it, and say whether it is so. Raises what `deliveries.lift` does."""
    async with app_here(home) as app:
        listed, lifted = await deliveries.lift(app, address, reason=reason, by=by, timeout_s=WAIT_S)
    console.print(plain(f"{listed} is {'written to again' if lifted else 'still suppressed'}."))


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
