"""Dead letters on a terminal: the list, and one whole."""

from __future__ import annotations

from rich.table import Table

from services.cli.shown import Terminal, cell, lines, minute
from services.operations.dead_letters.letter import Letter

console = Terminal(highlight=False)
LONGEST_VALUE = 20_000  # characters shown of a value


def show_list(letters: list[Letter]) -> None:
    """A line for each letter."""
    if not letters:
        console.print("No dead letters.")
        return
    table = Table("id", "failed (UTC)", "group", "event", "thread or key", "error", "state", box=None)
    table.columns[4].overflow = "fold"
    for one in letters:
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


def show_whole(letter: Letter) -> None:
    """One letter: why it failed, where it came from, what it says."""
    came = letter.original
    said = [
        ("id", str(letter.id)),
        ("state", f"{letter.state}: {letter.why}" if letter.why else letter.state),
        ("group", letter.group),
        ("from", f"{came.topic}, partition {came.partition}, offset {came.offset}" if came else "it does not say"),
        ("failed", f"{letter.failed_at.isoformat()}, after {letter.attempts} attempts, code {letter.code_version}"),
        ("error", letter.error),
        ("event", letter.event.type if letter.event else f"unreadable: {letter.unreadable}"),
        ("thread or key", letter.thread),
    ]
    for name, value in said:
        console.print(cell(f"{name:<14} {value}", 2000))
    console.print("\nHeaders", style="bold")
    for name, raw in letter.record.headers:
        console.print(cell(f"{name}: {raw.decode('utf-8', 'backslashreplace')}", 500))
    console.print("\nValue", style="bold")
    console.print(lines(_value(letter), LONGEST_VALUE), markup=False)


def _value(letter: Letter) -> str:
    if letter.event:
        return letter.event.data.model_dump_json(indent=2)
    return (letter.record.value or b"(none)").decode("utf-8", "backslashreplace")
