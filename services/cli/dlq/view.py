"""Dead letters on a terminal: how they are named, the list, and one whole."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated

import typer
from rich.table import Table

from services.cli.terminal import Terminal, cell, lines, minute
from services.operations.dead_letters import Choice
from services.operations.dead_letters.dead_letter import DeadLetter

# How dead letters are named on the command line.
Ids = Annotated[list[str] | None, typer.Argument(help="Ids as `dlq list` shows them; their beginning will do.")]
Id = Annotated[str, typer.Argument(help="The dead letter's id as `dlq list` shows it; its beginning will do.")]
Group = Annotated[str, typer.Option(help="Only dead letters of this consumer group, e.g. learn_facts.")]
Thread = Annotated[str, typer.Option(help="Only dead letters about this thread, or with this key.")]
Error = Annotated[str, typer.Option(help="Only dead letters whose error contains this text.")]
Since = Annotated[datetime | None, typer.Option(help="Only dead letters that failed at this time (UTC) or later.")]
Until = Annotated[datetime | None, typer.Option(help="Only dead letters that failed before this time (UTC).")]
Every = Annotated[bool, typer.Option("--all", help="All dead letters that wait.")]
DryRun = Annotated[bool, typer.Option(help="Only say which dead letters are meant.")]


def choice_of(group: str, thread: str, error: str, since: datetime | None, until: datetime | None) -> Choice:
    """The criteria, with times in UTC."""
    return Choice(group, thread, error, since and since.replace(tzinfo=UTC), until and until.replace(tzinfo=UTC))


console = Terminal(highlight=False)
LONGEST_VALUE = 20_000  # characters shown of a value


def show_list(dead_letters: list[DeadLetter]) -> None:
    """A line for each dead letter."""
    if not dead_letters:
        console.print("No dead letters.")
        return
    table = Table("id", "failed (UTC)", "group", "event", "thread or key", "error", "state", box=None)
    table.columns[4].overflow = "fold"
    for one in dead_letters:
        table.add_row(
            cell(str(one.id)[:8]),
            cell(minute(one.failed_at)),
            cell(one.group, 40),
            cell(one.event.type if one.event else "unreadable", 40),
            cell(one.thread, 36),
            cell(one.error, 80),
            cell(one.state),
        )
    console.print(table)


def show_whole(dead_letter: DeadLetter) -> None:
    """One dead letter: why it failed, where it came from, what it says."""
    came = dead_letter.original
    said = [
        ("id", str(dead_letter.id)),
        ("state", f"{dead_letter.state}: {dead_letter.why}" if dead_letter.why else dead_letter.state),
        ("group", dead_letter.group),
        ("from", f"{came.topic}, partition {came.partition}, offset {came.offset}" if came else "it does not say"),
        (
            "failed",
            f"{dead_letter.failed_at.isoformat()}, after {dead_letter.attempts} attempts, code "
            f"{dead_letter.code_version}",
        ),
        ("error", dead_letter.error),
        ("event", dead_letter.event.type if dead_letter.event else f"unreadable: {dead_letter.unreadable}"),
        ("thread or key", dead_letter.thread),
    ]
    for name, value in said:
        console.print(cell(f"{name:<14} {value}", 2000))
    console.print("\nHeaders", style="bold")
    for name, raw in dead_letter.record.headers:
        console.print(cell(f"{name}: {raw.decode('utf-8', 'backslashreplace')}", 500))
    console.print("\nValue", style="bold")
    console.print(lines(_value(dead_letter), LONGEST_VALUE), markup=False)


def _value(dead_letter: DeadLetter) -> str:
    if dead_letter.event:
        return dead_letter.event.data.model_dump_json(indent=2)
    return (dead_letter.record.value or b"(none)").decode("utf-8", "backslashreplace")
