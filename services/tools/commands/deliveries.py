"""`correspondent deliveries`: the ledger of replies; what is unknown needs a human."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from services.core.db import fetch_all, queries
from services.tools.running import house_here

console = Console(highlight=False)
SQL = queries(__file__, "deliveries.sql")


def deliveries(
    context: typer.Context,
    state: Annotated[str, typer.Option(help="Only these: sent, unknown, failed, bounced, approved ...")] = "",
    limit: Annotated[int, typer.Option(help="The newest so many.")] = 50,
) -> None:
    """Show the ledger of replies. `--state unknown`: nobody knows whether they arrived; they are never repeated."""
    home: Path = context.obj
    asyncio.run(_deliveries(home, state, limit))


async def _deliveries(home: Path, state: str, limit: int) -> None:
    async with house_here(home) as house, house.database.reading() as conn:
        args = {"workspace": house.settings.workspace, "state": state, "limit": limit}
        rows = await fetch_all(conn, SQL.ledger, args)
    if not rows:
        console.print("None.")
        return
    table = Table("changed", "state", "to", "attempts", "detail", "Message-ID", box=None)
    for row in rows:
        cells = (row["state"], row["recipient"] or "", str(row["attempt"]), row["detail"][:60], row["message_id"] or "")
        table.add_row(f"{row['changed_at']:%Y-%m-%d %H:%M}", *cells)
    console.print(table)
