"""`correspondent topics`: how far each group has come, what was said, and events put in by hand."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from services.cli.terminal import age, cell, console, lines
from services.core.app import App
from services.core.bus import log_losses
from services.core.bus.codec import header
from services.core.bus.delivery import Delivery
from services.operations import manual_events as producing
from services.operations import topics
from services.operations.deployment import app_here
from services.operations.topics import Filter, Reading

typer_app = typer.Typer(no_args_is_help=True, help="List topics and their lag, show or publish records.")
LONGEST_LINE = 2000  # characters shown of a value
LARGEST_FILE = 50_000_000  # bytes

Topic = Annotated[str, typer.Argument(help="The topic's name in schemas/topics.yaml, e.g. turns.")]


@typer_app.command("list")
def list_topics(context: typer.Context) -> None:
    """List topics with their groups: records, lag, oldest record."""
    home: Path = context.obj
    asyncio.run(_list(home))


@typer_app.command()
def tail(
    context: typer.Context,
    topic: Topic,
    thread: Annotated[str, typer.Option(help="Only events of this thread (records with this key).")] = "",
    type_: Annotated[str, typer.Option("--type", help="Only this type; turn.opened means any version of it.")] = "",
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, max=100_000, help="The newest so many.")] = 10,
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Go on with what comes, until Ctrl-C.")] = False,
) -> None:
    """Show the newest records of a topic; no consumer is disturbed."""
    home: Path = context.obj
    asyncio.run(_tail(home, topics.known_topic(topic), Filter(thread, type_), limit, follow))


@typer_app.command()
def produce(
    context: typer.Context,
    topic: Topic,
    file: Annotated[
        Path, typer.Argument(help='JSON lines: {"type": "...", "data": {...}}', exists=True, dir_okay=False)
    ],
    dry_run: Annotated[bool, typer.Option(help="Only check the file.")] = False,
) -> None:
    """Publish events to a topic, checked against the schemas first."""
    home: Path = context.obj
    asyncio.run(_produce(home, topics.known_topic(topic), file, dry_run))


@typer_app.command()
def acknowledge(context: typer.Context) -> None:
    """Acknowledge lost logs: `status` and alerts report them no longer."""
    home: Path = context.obj
    asyncio.run(_acknowledge(home))


async def _acknowledge(home: Path) -> None:
    async with app_here(home, publishes=False) as app, app.database.reading() as conn:
        count = await log_losses.acknowledge(conn, app.settings)
    console.print(f"Losses of {count} topics acknowledged." if count else "No loss is reported.")


async def _list(home: Path) -> None:
    async with app_here(home, publishes=False) as app:
        console.print(table_of(await topics.readings(app), app.now()))


def table_of(readings: list[Reading], now: datetime) -> Table:
    """The readings as a table."""
    table = Table("topic", "records", "group", "to do", "oldest", box=None)
    for name in ("records", "to do", "oldest"):
        next(column for column in table.columns if column.header == name).justify = "right"
    before = ""
    for one in readings:
        oldest = "" if one.oldest_ms is None else age(now - _time(one.oldest_ms))
        left = str(one.lag) if one.group else ""
        shown = ("", "") if one.topic == before else (one.topic, str(one.end))
        table.add_row(*shown, one.group or "(nobody)", left, oldest)
        before = one.topic
    return table


async def _tail(home: Path, topic: str, wanted: Filter, limit: int, go_on: bool) -> None:
    async with app_here(home) as app:
        shown = await topics.newest(app, topic, wanted, limit)
        for record in shown:
            await _print(record, app)
        if not shown and not go_on:
            console.print("No such record.")
        if go_on:
            async for record in topics.coming(app, topic, wanted):
                await _print(record, app)


async def _print(record: Delivery, app: App) -> None:
    place = f"{_time(record.timestamp_ms):%Y-%m-%d %H:%M:%S}  {record.partition}@{record.offset}"
    kind = header(record, "ce_type") or "(no type)"
    console.print(cell(f"{place}  {kind}  {(record.key or b'').decode('utf-8', 'replace')}", 300, "bold"))
    console.print(lines(await topics.value_of(record, app.keys), LONGEST_LINE), markup=False)


async def _produce(home: Path, topic: str, file: Path, dry_run: bool) -> None:
    async with app_here(home) as app:
        events = producing.check_events(_text(file), topic, now=app.now(), workspace=app.settings.workspace)
        if not dry_run:
            await producing.produce(app, events)
    for event in events:
        console.print(cell(f"{event.id}  {event.type}  {event.key}"))
    console.print("They are well; nothing was sent." if dry_run else f"{len(events)} sent.")


def _text(file: Path) -> str:
    if file.stat().st_size > LARGEST_FILE:
        raise producing.FileRefused(f"nothing was sent: the file has more than {LARGEST_FILE // 1_000_000} MB")
    try:
        return file.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise producing.FileRefused(
            f"nothing was sent: the file is not UTF-8 ({error.reason} at byte {error.start})"
        ) from None


def _time(timestamp_ms: int) -> datetime:
    return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=max(0, min(timestamp_ms, 10**14)))
