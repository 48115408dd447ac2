"""`correspondent archive`: old events leave the table for compressed files."""

from __future__ import annotations

import asyncio
import re
from datetime import timedelta
from pathlib import Path
from typing import Annotated

import typer

from services.cli.terminal import Terminal, cell
from services.core.archive.archive import Archive, archive_of
from services.core.archive.file import ArchiveDamaged, Manifest, verify
from services.core.archive.history import manifests
from services.core.archive.places import ArchiveMissing
from services.core.clock import utc_now
from services.operations.archive import move
from services.operations.deployment import database_here
from services.operations.rebuild.shadow_schema import connected

console = Terminal(highlight=False)
UNITS = {"d": "days", "h": "hours", "m": "minutes"}


def archive(
    context: typer.Context,
    older_than: Annotated[
        str, typer.Option(help="Time since storing, such as 90d, 12h; by default archive.after_days of the settings.")
    ] = "",
    to: Annotated[str, typer.Option(help="A folder or URL; by default archive.url of the settings.")] = "",
    check: Annotated[
        bool, typer.Option("--check", help="Only read each file back; exit 1 where one is damaged.")
    ] = False,
) -> None:
    """Move old events from the table to compressed files.

    One file per day; replay and rebuild read the events there.

    What is not done, not published, or of a thread with an open turn stays. Run it daily; killed at any step, nothing
    is lost, and the next run completes it.
    """
    home: Path = context.obj
    age = duration(older_than) if older_than else None
    raise typer.Exit(asyncio.run(_check(home) if check else _move(home, age, to)))


def duration(text: str) -> timedelta:
    """`90d`, `12h`, `30m`. Raises `typer.BadParameter`."""
    found = re.fullmatch(r"(\d{1,5}(?:\.\d+)?)([dhm])", text.strip())
    if not found:
        raise typer.BadParameter(f"{text!r} is no time such as 90d, 12h or 30m")
    return timedelta(**{UNITS[found[2]]: float(found[1])})


async def _move(home: Path, age: timedelta | None, to: str) -> int:
    settings = await database_here(home)
    before = utc_now() - (age if age is not None else timedelta(days=settings.archive.after_days))
    moved: list[Manifest] = []
    async with connected(settings.database_url) as conn:
        async for one in move(conn, archive_of(settings), before, to):
            moved.append(one)
            console.print(cell(f"{one.day}  {one.events:>8} events  {one.bytes:>10} bytes  {one.file}"))
    events = sum(one.events for one in moved)
    console.print(f"{events} events stored before {before:%Y-%m-%d %H:%M} UTC moved, to {len(moved)} files.")
    return 0


async def _check(home: Path) -> int:
    settings = await database_here(home)
    async with connected(settings.database_url) as conn:
        said = await manifests(conn)
    bad = [one for one in said if not await asyncio.to_thread(_is_whole, archive_of(settings), one)]
    events = sum(one.events for one in said)
    console.print(f"{len(said) - len(bad)} of {len(said)} files are whole; they should hold {events} events.")
    return 1 if bad else 0


def _is_whole(kept: Archive, said: Manifest) -> bool:
    try:
        verify(kept.open(said.file, said.place), said)
    except (ArchiveDamaged, ArchiveMissing) as error:
        console.print(cell(str(error)))
        return False
    return True
