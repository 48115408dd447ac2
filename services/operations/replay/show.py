"""A replay on the terminal: what happened on the left, what the replay did on the right."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import zip_longest

from rich.console import Console, Group, RenderableType
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from services.operations.replay.difference import Difference
from services.operations.replay.result import SAME, Result

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


# Two texts side by side: lines that are alike on one row, long runs of them left out. Pure.
AROUND = 1  # equal lines shown before and after a change


@dataclass(frozen=True, slots=True)
class Row:
    """One row; `changed` where the sides differ."""

    left: str
    right: str
    changed: bool


def rows(before: str, after: str, width: int = 48) -> tuple[Row, ...]:
    """The rows of two texts, wrapped to `width` characters a side."""
    left, right = _wrapped(before, width), _wrapped(after, width)
    found: list[Row] = []
    for kind, a, b, c, d in SequenceMatcher(None, left, right, autojunk=False).get_opcodes():
        if kind == "equal":
            found += _alike(left[a:b], first=a == 0, last=b == len(left))
        else:
            found += [Row(one, other, True) for one, other in zip_longest(left[a:b], right[c:d], fillvalue="")]
    return tuple(found)


def _wrapped(text: str, width: int) -> list[str]:
    return [part for line in text.splitlines() for part in textwrap.wrap(line, width) or [""]]


def _alike(lines: list[str], *, first: bool, last: bool) -> Iterator[Row]:
    head = 0 if first else AROUND
    tail = 0 if last else AROUND
    if len(lines) <= head + tail + 1:
        yield from (Row(line, line, False) for line in lines)
        return
    yield from (Row(line, line, False) for line in lines[:head])
    yield Row("...", "...", False)
    yield from (Row(line, line, False) for line in lines[len(lines) - tail :])
