"""`correspondent mails`: what became of each mail."""

from __future__ import annotations

import asyncio
from collections import Counter
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from services.core.db import fetch_all
from services.tools.commands.ids import whole_id
from services.tools.commands.terminal import console, plain, short
from services.tools.running import house_here
from services.tools.settle import SQL

EVERY = 1_000_000  # mails are looked through for an outcome, which is known only when all is joined


def mails(
    context: typer.Context,
    thread: Annotated[str, typer.Option(help="Only the mails of this thread: its id, or the beginning.")] = "",
    outcome: Annotated[str, typer.Option(help="Only mails that ended so, e.g. sent, park, human, failed.")] = "",
    limit: Annotated[int, typer.Option(help="The newest so many.", min=1)] = 50,
) -> None:
    """Show each mail with its outcome and the reason. Nothing that was received is missing here."""
    home: Path = context.obj
    asyncio.run(_mails(home, thread, outcome, limit))


async def _mails(home: Path, thread: str, outcome: str, limit: int) -> None:
    async with house_here(home) as house:
        thread_id = await whole_id(house, thread, "thread") if thread else None
        args = {
            "workspace": house.settings.workspace,
            "thread_id": thread_id,
            "limit": EVERY if outcome else limit,
        }
        async with house.database.reading() as conn:
            rows = await fetch_all(conn, SQL.outcomes, args)
    shown = [row for row in rows if outcome in ("", row["outcome"])][:limit]
    if not shown:
        console.print(_none(rows, outcome))
        return
    console.print(_table(shown))
    counts = Counter(row["outcome"] for row in shown)
    console.print(", ".join(f"{count} {name}" for name, count in counts.most_common()), style="dim")


def _none(rows: list[dict[str, Any]], outcome: str) -> str:
    if not rows:
        return "No mail yet. `correspondent write` sends one."
    others = ", ".join(sorted({row["outcome"] for row in rows}))
    return f"No mail ended as {outcome!r}; there are: {others}."


def _table(rows: list[dict[str, Any]]) -> Table:
    table = Table(box=None, padding=(0, 1))
    table.add_column("received", no_wrap=True)
    table.add_column("thread", no_wrap=True)
    table.add_column("from", ratio=2)
    table.add_column("subject, and why", ratio=3)
    table.add_column("outcome")
    for row in reversed(rows):
        why = Text.assemble(plain(row["subject"]), "\n", plain(row["reason"], "dim"))
        who = Text.assemble(plain(row["author_addr"]), "\n", plain(row["identity"], "dim"))
        table.add_row(f"{row['received_at']:%Y-%m-%d %H:%M}", short(row["thread_id"]), who, why, row["outcome"])
    return table
