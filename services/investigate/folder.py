"""The folder of an investigation: texts by path, in memory alone. Pure.

Nothing of it is ever a file on a disk, so no path leads out of it: there are no links, and a path that is not made of a
few plain names is refused. The model writes the brief's text, the scratchpad, and below outputs/ and skills/.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from types import MappingProxyType

from schemas.events.investigations import WorkFile

HOT_CONTEXT = "memory/hot_context.md"
SCRATCHPAD = "memory/scratchpad.md"
OUTPUTS, SKILLS = "outputs/", "skills/"
MOST_WRITTEN = 24  # files below outputs/ and skills/ together
LONGEST_PATH = 120  # characters

_NAME = r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,79}"
_PATH = re.compile(rf"{_NAME}(?:/{_NAME}){{0,3}}")

Tree = Mapping[str, str]


class PathRefused(Exception):
    """The path names no file that may be there; the words say why."""


def checked(path: str) -> str:
    """The path itself, if it is one of a few plain names. Raises `PathRefused`."""
    if len(path) > LONGEST_PATH or _PATH.fullmatch(path) is None:
        raise PathRefused(f"{path[:LONGEST_PATH]!r} is no path here: up to four plain names with / between them")
    return path


def below(path: str, folder: str) -> bool:
    """Whether a path lies in a folder, of which "" is the whole. Raises `PathRefused` for a folder that is none."""
    name = folder.rstrip("/")
    return not name or path == checked(name) or path.startswith(f"{name}/")


def is_kept(path: str) -> bool:
    """Whether the person's next investigation finds the file again."""
    return path == SCRATCHPAD or path.startswith(SKILLS)


def is_writable(path: str) -> bool:
    """Whether the model may write there."""
    return path == HOT_CONTEXT or path.startswith(OUTPUTS) or is_kept(path)


def tree_of(files: Iterable[WorkFile]) -> Tree:
    """The folder of some files, the later ones over the earlier; one without a text is deleted."""
    tree: dict[str, str] = {}
    for one in files:
        if one.text is None:
            tree.pop(one.path, None)
        else:
            tree[one.path] = one.text
    return MappingProxyType(tree)


def changes(before: Tree, after: Tree) -> tuple[WorkFile, ...]:
    """What leads from one folder to the other, by path."""
    paths = sorted(one for one in before.keys() | after.keys() if before.get(one) != after.get(one))
    return tuple(WorkFile(path=one, text=after.get(one)) for one in paths)


def size(text: str) -> int:
    """The bytes of a text as JSON: what it takes in an event."""
    return len(json.dumps(text))


def lines_of(text: str) -> list[str]:
    """The lines of a text; an empty one has none."""
    return text.removesuffix("\n").split("\n") if text else []


def listing(tree: Tree, folder: str = "") -> str:
    """A line for each file, with how many lines it has. Raises `PathRefused`."""
    found = [f"{path} ({len(lines_of(tree[path]))} lines)" for path in sorted(tree) if below(path, folder)]
    return "\n".join(found) or "no file lies there"
