"""A replay on the terminal: what happened on the left, what the replay did on the right."""

from __future__ import annotations

from collections.abc import Iterable

from rich.console import Console, Group, RenderableType
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from services.operations.replay.difference import Difference
from services.operations.replay.result import SAME, Result
from services.operations.replay.side_by_side import rows

LEAST_WIDTH = 24


def show_result(console: Console, result: Result) -> None:
    """The differences of one case; nothing for one without."""
    if result.code == SAME:
        return
    width = max(LEAST_WIDTH, (console.width - 9) // 2)
    parts: list[RenderableType] = [_one(one, width) for one in result.differences]
    console.print(Panel(Group(*parts), title=result.name, title_align="left", border_style="red"))


def show_summary(console: Console, results: Iterable[Result], skipped: int) -> None:
    """How many, in one line."""
    codes = [one.code for one in results]
    same = codes.count(SAME)
    more = f" {skipped} of them were in the log already." if skipped else ""
    failed = f", {codes.count(2)} could not be replayed" if codes.count(2) else ""
    console.print(f"{len(codes)} replayed: {same} without a difference, {codes.count(1)} with{failed}.{more}")


def _one(difference: Difference, width: int) -> Table:
    mark = "" if difference.counts else "  (for information)"
    table = Table(box=None, padding=(0, 1), show_header=True, title_justify="left", title_style="bold")
    table.title = f"{difference.event}  {difference.field}{mark}"
    table.add_column("what happened", width=width, header_style="dim")
    table.add_column("replay", width=width, header_style="dim")
    for row in rows(difference.before, difference.after, width):
        left, right = ("red", "green") if row.changed else ("dim", "dim")
        table.add_row(Text(row.left, left), Text(row.right, right))
    return table
