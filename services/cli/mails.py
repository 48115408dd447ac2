"""`correspondent mails`: what became of each mail."""

from __future__ import annotations

import asyncio
from collections import Counter
from pathlib import Path
from typing import Annotated, Any
from uuid import UUID

import typer
from rich.table import Table
from rich.text import Text

from services.cli.terminal import After, Limit, age, console, plain, short, show_next
from services.core.bus.undone_events import low_mark, pairs_of
from services.core.db import Connection, fetch_all
from services.core.paging import MOST, Listing, Page
from services.operations.deployment import app_here
from services.operations.idle import SQL
from services.operations.ids import whole_id

OUTCOMES = Listing("mails", (("received_at", "time"), ("mail_id", "id")), descending=True)
LOOKED_THROUGH = 10_000  # mails that one call looks through for an outcome, which is known only when all is joined


def mails(
    context: typer.Context,
    thread: Annotated[str, typer.Option(help="Only the mails of this thread: its id, or the beginning.")] = "",
    outcome: Annotated[str, typer.Option(help="Only mails that ended so, e.g. sent, park, human, failed.")] = "",
    limit: Limit = 50,
    after: After = "",
) -> None:
    """List received mails with their outcome and the reason.

    No mail that was received is missing here.
    """
    home: Path = context.obj
    asyncio.run(_mails(home, thread, outcome, limit, after))


async def _mails(home: Path, thread: str, outcome: str, limit: int, after: str) -> None:
    async with app_here(home, publishes=False) as app:
        thread_id = await whole_id(app, thread, "thread") if thread else None
        async with app.database.reading() as conn:
            page, others = await _found(conn, app.settings.workspace, thread_id, outcome, limit, after)
    if page:
        console.print(_table(page))
        counts = Counter(row["outcome"] for row in page)
        console.print(", ".join(f"{count} {name}" for name, count in counts.most_common()), style="dim")
    else:
        console.print(_none(others, outcome))
    show_next(page)


async def outcomes(
    conn: Connection, workspace: str, thread_id: UUID | None = None, *, limit: int = MOST, after: str = ""
) -> Page[dict[str, Any]]:
    """What became of each mail, the newest first. Raises `BadCursor`."""
    pairs = pairs_of([("inbound-email.raw", "read_email")])
    args = {"workspace": workspace, "thread_id": thread_id, "low": await low_mark(conn, pairs)}
    return OUTCOMES.page(await fetch_all(conn, SQL.outcomes, args | OUTCOMES.args(after, limit)), limit)


async def _found(
    conn: Connection, workspace: str, thread_id: UUID | None, outcome: str, limit: int, after: str
) -> tuple[Page[dict[str, Any]], set[str]]:
    """A page of the mails with an outcome ("" for any), and the outcomes that were met on the way."""
    found: list[dict[str, Any]] = []
    met: set[str] = set()
    for _ in range(LOOKED_THROUGH // MOST if outcome else 1):
        page = await outcomes(conn, workspace, thread_id, limit=MOST if outcome else limit, after=after)
        met |= {row["outcome"] for row in page}
        found += [row for row in page if outcome in ("", row["outcome"])]
        after = page.next
        if len(found) > limit or not after:
            break
    return (OUTCOMES.page(found, limit) if len(found) > limit else Page(found, after)), met


def _none(others: set[str], outcome: str) -> str:
    if not others:
        return "No mail yet. `correspondent write` sends one."
    return f"No mail ended as {outcome!r}; there are: {', '.join(sorted(others))}."


def _table(rows: list[dict[str, Any]]) -> Table:
    table = Table(box=None, padding=(0, 1))
    table.add_column("received", no_wrap=True)
    table.add_column("thread", no_wrap=True)
    table.add_column("from", ratio=2)
    table.add_column("subject, and why", ratio=3)
    table.add_column("outcome")
    for row in reversed(rows):
        why = Text.assemble(plain(row["subject"]), "\n", plain(shown_reason(row), "dim"))
        who = Text.assemble(plain(row["author_addr"]), "\n", plain(row["identity"], "dim"))
        table.add_row(f"{row['received_at']:%Y-%m-%d %H:%M}", short(row["thread_id"]), who, why, shown_outcome(row))
    return table


def shown_reason(row: dict[str, Any]) -> str:
    """Why that became of the mail, or the command that goes on with it."""
    if row["draft_id"]:
        return f"a draft waits for a person: correspondent approve {short(row['draft_id'])}"
    return str(row["reason"])


def shown_outcome(row: dict[str, Any]) -> Text:
    """What became of the mail and, of an answered one, how long the customer waited."""
    if row["answered_at"] is None:
        return plain(row["outcome"])
    return Text.assemble(row["outcome"], "\n", (f"after {age(row['answered_at'] - row['received_at'])}", "dim"))
