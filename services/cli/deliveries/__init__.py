"""`correspondent deliveries`: the ledger of replies; what is unknown needs a human."""

from __future__ import annotations

import asyncio
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from services.cli.deliveries.settlement import settle
from services.cli.release import release
from services.cli.terminal import After, Limit, console, plain, short, show_next
from services.operations.deliveries import DeliveryLine, ledger
from services.operations.deployment import app_here

typer_app = typer.Typer(invoke_without_command=True, help="List replies with the state of their delivery.")
typer_app.command()(settle)
typer_app.command()(release)


class State(StrEnum):
    """The states of the ledger."""

    DRAFT = "draft"
    APPROVED = "approved"
    SENDING = "sending"
    SENT = "sent"
    UNKNOWN = "unknown"
    FAILED = "failed"
    BOUNCED = "bounced"
    DISCARDED = "discarded"


@typer_app.callback()
def deliveries(
    context: typer.Context,
    state: Annotated[State | None, typer.Option(help="Only the replies in this state.")] = None,
    limit: Limit = 50,
    after: After = "",
) -> None:
    """Show the ledger of replies. `--state unknown`: nobody knows whether they arrived; they are never repeated."""
    if context.invoked_subcommand:
        return
    home: Path = context.obj
    asyncio.run(show_ledger(home, state.value if state else "", limit, after))


async def show_ledger(home: Path, state: str, limit: int, after: str = "") -> None:
    """Print the newest replies, those in `state` or ("") all."""
    async with app_here(home, publishes=False) as app, app.database.reading() as conn:
        rows = await ledger(conn, app.settings.workspace, state, limit=limit, after=after)
    console.print(_table(rows) if rows else f"No reply is {state}." if state else "No reply yet.")
    show_next(rows)


def _table(rows: list[DeliveryLine]) -> Table:
    table = Table(box=None, padding=(0, 1))
    table.add_column("changed", no_wrap=True)
    table.add_column("reply", no_wrap=True)
    table.add_column("thread", no_wrap=True)
    table.add_column("state", no_wrap=True)
    table.add_column("to, Message-ID, and what the server said")
    for row in rows:
        tries = f", attempt {row.attempt}" if row.attempt > 1 else ""
        told = (row.message_id, row.detail, _copy(row))
        lines = [plain(row.recipient), *(plain(one, "dim") for one in told)]
        said = Text("\n").join(line for line in lines if line)
        state = f"{row.state}{tries}"
        table.add_row(f"{row.changed_at:%Y-%m-%d %H:%M}", short(row.reply_id), short(row.thread_id), state, said)
    return table


def _copy(row: DeliveryLine) -> str:
    """What is to be known of its copy in the Sent folder; "" where it lies there, or where there is none to be kept."""
    if row.sent_copy == "missing":
        return f"no copy in Sent, given up: {row.copy_detail}"
    return f"no copy in Sent yet: {row.copy_detail}" if row.sent_copy == "waiting" else ""
