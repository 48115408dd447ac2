"""`correspondent outbox` and `correspondent held`: stored events that the broker refuses, and records that wait."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from services.cli.terminal import After, Limit, age, cell, console, show_next
from services.core.bus import event_store, held_records
from services.core.db import fetch_all, fetch_one
from services.core.errors import Permanent
from services.core.paging import Listing
from services.operations.deployment import app_here

REFUSED = Listing("outbox", (("spared", "number"), ("seq", "number")))


class NothingHeld(Permanent):
    """No record is held under this number."""


def outbox(context: typer.Context, limit: Limit = 50, after: After = "") -> None:
    """List stored events that the broker refused.

    They are tried again by themselves, at least once an hour.
    """
    asyncio.run(_outbox(context.obj, limit, after))


def list_held(
    context: typer.Context,
    release: Annotated[int, typer.Option(help="Make the record of this number a dead letter.", min=0)] = 0,
    limit: Limit = 50,
    after: After = "",
) -> None:
    """List records that wait for a newer release.

    A consumer holds what a newer version wrote. Upgrade its process, or release the record.
    """
    asyncio.run(_held(context.obj, release, limit, after))


async def _outbox(home: Path, limit: int, after: str) -> None:
    async with app_here(home, publishes=False) as app:
        async with app.database.reading() as conn:
            found = await fetch_all(conn, event_store.SQL.outbox_refused, REFUSED.args(after, limit))
        rows = REFUSED.page(found, limit)
        table = Table("type", "topic", "key", "stored", "attempts", "next", "the broker says", box=None)
        for row in rows:
            stored, ahead = age(app.now() - row["stored_at"]), age(row["next_attempt"] - app.now())
            said = cell(row["error"], 120)
            table.add_row(row["type"], row["topic"], row["key"], f"{stored} ago", str(row["attempts"]), ahead, said)
    console.print(table if rows else "The broker refuses nothing.")
    show_next(rows)


async def _held(home: Path, release: int, limit: int, after: str) -> None:
    async with app_here(home, publishes=False) as app, app.database.reading() as conn:
        if release:
            found = await fetch_one(conn, held_records.SQL.release, {"id": release})
            if found is None:
                raise NothingHeld(f"no record is held under the number {release}")
            console.print(f"The {found['type']} becomes a dead letter within 15 seconds.")
            return
        rows = held_records.HELD.page(
            await fetch_all(conn, held_records.SQL.held, held_records.HELD.args(after, limit)), limit
        )
        now = app.now()
    table = Table("number", "consumer", "place", "type", "held for", "why", box=None)
    for row in rows:
        place = f"{row['topic']}/{row['partition']}@{row['record_offset']}"
        table.add_row(
            str(row["id"]), row["consumer"], place, row["type"], age(now - row["since"]), cell(row["error"], 100)
        )
    console.print(table if rows else "Nothing is held.")
    show_next(rows)
