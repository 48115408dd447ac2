"""The commands that the documentation suggests, read out of its pages."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from typer.main import get_command

from services.cli.command_table import COMMANDS
from services.cli.main import app

ROOT = Path(__file__).parents[2]
PAGES = (ROOT / "README.md", ROOT / "docs" / "quickstart.md", *sorted((ROOT / "docs" / "how-to").glob("*.md")))
IN_A_BLOCK = re.compile(r"^ *(?:\$ )?((?:[A-Z_]+=\S+ |[A-Z_]+=\"[^\"]*\" )*(?:correspondent|make) .*)$")
IN_A_LINE = re.compile(r"`((?:correspondent|make) [^`]*)`")


def suggested() -> dict[str, list[str]]:
    """Each command as it is printed, without its comment and its line breaks: where it stands (`page:line`)."""
    found: dict[str, list[str]] = {}
    for page in PAGES:
        for number, command in commands_of(page.read_text(encoding="utf-8")):
            if command == "correspondent ...":  # any of them
                continue
            found.setdefault(command, []).append(f"{page.relative_to(ROOT)}:{number}")
    return found


def commands_of(text: str) -> Iterator[tuple[int, str]]:
    """The commands of a page with the numbers of their lines: in blocks, fenced or indented, and between backquotes."""
    lines = text.splitlines()
    fenced = False
    for number, line in enumerate(lines, 1):
        if line.lstrip().startswith("```"):
            fenced = not fenced
        elif fenced or line.startswith("    "):
            if match := IN_A_BLOCK.match(line):
                yield number, bare(_whole(match[1], lines[number:]))
        else:
            # a span of code may be broken between two lines; it belongs to the one in which it begins
            after = lines[number] if line.count("`") % 2 and number < len(lines) else ""
            for inline in IN_A_LINE.finditer(f"{line} {after}"):
                if inline.start() < len(line):
                    yield number, bare(inline[1])


def bare(command: str) -> str:
    """The command alone: no comment, redirection or variable before it; what is in [brackets] may be given, so it is."""
    words = shlex.split(command, comments=True)
    words = words[: words.index(">")] if ">" in words else words
    while re.match(r"[A-Z_]+=", words[0]):
        words = words[1:]
    return shlex.join(re.sub(r"^\[|\]$", "", word) for word in words)


def _whole(first: str, following: list[str]) -> str:
    """A command with the lines that it goes on in."""
    whole = first
    for line in following:
        if not whole.endswith("\\"):
            break
        whole = f"{whole[:-1].rstrip()} {line.strip()}"
    return whole


@cache
def _program() -> Any:
    """The command line, made once: it is the same for each command that is parsed."""
    return get_command(app)


def missing_arguments(command: str) -> bool:
    """Whether arguments are left out, as where a page only names a command. Fails where there is no such command.

    Values are not judged: a page says NUMBER, and names files that are not here.
    """
    found: Any = _program()
    context, words = None, shlex.split(command)[1:]
    if words[0] == "--home":
        words = words[2:]
    while hasattr(found, "get_command"):
        context = found.context_class(found, info_name="correspondent", parent=context)
        if not words or words == ["--help"]:
            return not words
        if words[0].startswith("-"):  # a group that does something by itself
            break
        try:
            _, found, words = found.resolve_command(context, words)
        except Exception as error:  # a usage error, likewise
            raise AssertionError(f"{command}: {error}") from error
    try:
        found.make_context(found.name, words, parent=context)
    except Exception as error:  # typer has its own copies of click's exceptions
        if type(error).__name__ in ("MissingParameter", "BadParameter"):
            return type(error).__name__ == "MissingParameter"
        raise AssertionError(f"{command}: {error}") from error
    return False


def mentioned() -> list[str]:
    """The commands in the first column of the README's table, each with the program and its group."""
    table = re.findall(r"^\| (`correspondent [^|]*) \|", PAGES[0].read_text(encoding="utf-8"), re.M)
    found = []
    for row in table:
        first, *others = re.findall(r"`([^`]+)`", row)
        found.append(bare(first))
        group = f"correspondent {first.split()[1]} "
        for other in others:
            alone = other.split()[0] in COMMANDS
            found.append(bare(f"correspondent {other}" if alone else group + other))
    return found
