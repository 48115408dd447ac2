"""What was typed wrong, said plainly and with the command that was meant, without loading any command."""

from __future__ import annotations

import re
from collections.abc import Iterator
from difflib import get_close_matches
from typing import Any

from services.cli.command_table import COMMANDS, SUB_COMMANDS
from services.core.error_words import plain_words

PROGRAM = "correspondent"
CLOSE = 0.7  # how much alike a sub-command must be; a command of the first page may be less so
MOST = 3  # suggestions
_EXTRA = re.compile(r"^Got unexpected extra arguments?(?:\(s\))? \((.*)\)", re.S)
_OF_ALL = ("--home", "--log-level")  # options that stand before the command
_CALLED = {
    "start": "up",
    "serve": "up",
    "send": "write",
    "config": "settings",
    "version": "settings",
    "erase": "forget",
    "delete": "forget",
    "emails": "mails",
    "inboxes": "inbox list",
    "documents": "knowledge list",
    "customers": "memory people",
    "participants": "memory people",
}


def no_such_command(words: list[str]) -> str:
    """What to say of a first word that is no command."""
    meant = list(dict.fromkeys(_meant(words)))[:MOST]
    asked = " or ".join(f"`{PROGRAM} {one}`" for one in meant)
    hint = f"Did you mean {asked}?" if meant else f"`{PROGRAM} --help` lists all."
    return f"No such command {words[0]!r}. {hint}"


def _meant(words: list[str]) -> Iterator[str]:
    word, within = words[0].lower(), [(name, sub) for name, subs in SUB_COMMANDS.items() for sub in subs]
    if word in _CALLED:
        yield _CALLED[word]
    for other in words[1:2]:  # `list drafts`, `show thread`
        if other in COMMANDS:
            yield f"{other} {word}" if word in SUB_COMMANDS.get(other, ()) else other
            return
    yield from (f"{name} {sub}" for name, sub in within if sub == word)
    yield from get_close_matches(word, COMMANDS, n=2)
    alike = set(get_close_matches(word, [sub for _, sub in within], n=1, cutoff=CLOSE))
    yield from (f"{name} {sub}" for name, sub in within if sub in alike)


def explain(error: Any) -> None:
    """Have a usage error say what to type instead."""
    path = error.ctx.command_path if error.ctx else PROGRAM
    option = getattr(error, "option_name", "")
    if option in _OF_ALL:
        error.message, error.possibilities = _stands_before(option, path), None
    elif extra := _EXTRA.match(error.message):
        error.message = f"`{path}` takes no {extra[1]!r}. {_extra_hint(path, extra[1].split()[0])}"
    elif told := getattr(getattr(error, "param", None), "help", None):
        known = plain_words(error.message) if error.message else ""
        error.message = known or str(told).removesuffix("  [required]")
    else:
        error.message = plain_words(error.message)


def _stands_before(option: str, path: str) -> str:
    command = path.removeprefix(PROGRAM).strip()
    return f"{option} stands before the command: `{PROGRAM} {option} ... {command}`."


def _extra_hint(path: str, word: str) -> str:
    alone = path.removeprefix(PROGRAM).strip()
    if word in ("list", "ls", "show", "all"):
        return f"`{path}` lists by itself."
    if word in COMMANDS and word != alone:
        return f"Did you mean `{PROGRAM} {word}`?"
    return f"`{path} --help` says what it takes; put words with spaces between quotes."
