"""`correspondent mails`: what became of each mail."""

from __future__ import annotations

import asyncio
from collections import Counter
from pathlib import Path
from typing import Annotated
from uuid import UUID

import typer
from rich.console import Console
from rich.table import Table

from services.core.db import fetch_all
from services.tools.running import house_here
from services.tools.settle import SQL

console = Console(highlight=False)


def mails(
    context: typer.Context,
    thread: Annotated[UUID | None, typer.Option(help="Only the mails of this thread.")] = None,
    outcome: Annotated[str, typer.Option(help="Only mails that ended so, e.g. sent, park, human, failed.")] = "",
    limit: Annotated[int, typer.Option(help="The newest so many.")] = 50,
) -> None:
    """Show each mail with its outcome and the reason. Nothing that was received is missing here."""
    home: Path = context.obj
    asyncio.run(_mails(home, thread, outcome, limit))


async def _mails(home: Path, thread: UUID | None, outcome: str, limit: int) -> None:
    async with house_here(home) as house, house.database.reading() as conn:
        args = {"workspace": house.settings.workspace, "thread_id": thread, "limit": limit}
        rows = await fetch_all(conn, SQL.outcomes, args)
    shown = [row for row in rows if outcome in ("", row["outcome"])]
    if not shown:
        console.print("No mail yet. `correspondent write` sends one.")
        return
    table = Table("received", "from", "subject", "sender", "outcome", "reason", "thread", box=None)
    for row in reversed(shown):
        table.add_row(
            f"{row['received_at']:%Y-%m-%d %H:%M}",
            row["author_addr"] or "",
            (row["subject"] or "")[:40],
            row["identity"] or "",
            row["outcome"],
            (row["reason"] or "")[:80],
            str(row["thread_id"] or ""),
        )
    console.print(table)
    counts = Counter(row["outcome"] for row in shown)
    console.print(", ".join(f"{count} {name}" for name, count in counts.most_common()), style="dim")
