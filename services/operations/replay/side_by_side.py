"""Two texts side by side: lines that are alike on one row, long runs of them left out. Pure."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import zip_longest

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
