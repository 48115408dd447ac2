"""A unified diff as files and runs of lines, and two texts as runs of words, for templates to show. Pure.

How many lines belong to a change its head says, so that no line of a text passes for the head of the next one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import groupby
from operator import itemgetter
from typing import Literal

Kind = Literal["same", "out", "in"]
_HEAD = re.compile(r"@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@")
_WORDS = re.compile(r"\S{1,200}|\s{1,200}")
LONGEST = 20_000  # characters of a text that is compared word by word
_KINDS: dict[str, Kind] = {" ": "same", "-": "out", "+": "in"}


@dataclass(frozen=True, slots=True)
class Run:
    """Lines that follow each other and are the same in both texts, or only in the one before, or after."""

    kind: Kind
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FileDiff:
    """What was changed in a file, a tuple of runs for each place."""

    path: str
    places: tuple[tuple[Run, ...], ...]


def files_in(diff: str) -> list[FileDiff]:
    """The files of a diff; one that is cut off ends where it is cut."""
    found: dict[str, list[tuple[Run, ...]]] = {}
    lines = iter(diff.split("\n"))
    path = ""
    for line in lines:
        if line.startswith("+++ b/"):
            path = line.removeprefix("+++ b/")
        elif path and (head := _HEAD.fullmatch(line)):
            found.setdefault(path, []).append(tuple(_runs(lines, *(int(one or 1) for one in head.groups()))))
    return [FileDiff(path, tuple(places)) for path, places in found.items()]


def _runs(lines: Iterator[str], before: int, after: int) -> Iterator[Run]:
    """The lines of one place, of which so many stand in the text before and so many in the one after."""
    for kind, some in groupby(_of_place(lines, before, after), key=itemgetter(0)):
        yield Run(kind, tuple(line for _, line in some))


def _of_place(lines: Iterator[str], before: int, after: int) -> Iterator[tuple[Kind, str]]:
    while (before > 0 or after > 0) and (line := next(lines, "")):
        kind = _KINDS.get(line[0])
        if kind is None:
            return
        before -= kind != "in"
        after -= kind != "out"
        yield kind, line[1:]


def words_between(before: str, after: str) -> list[tuple[Kind, str]]:
    """Two texts as runs of words that both have, or only the one before, or only the one after; long ones are cut."""
    old, new = (_WORDS.findall(one[:LONGEST]) for one in (before, after))
    found: list[tuple[Kind, str]] = []
    for what, a, b, c, d in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if what == "equal":
            found.append(("same", "".join(old[a:b])))
            continue
        if b > a:
            found.append(("out", "".join(old[a:b])))
        if d > c:
            found.append(("in", "".join(new[c:d])))
    return found
