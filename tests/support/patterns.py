"""Every regular expression of some packages, how each is used, and the texts on which one backtracks worst.

Found at run time, so that a new pattern is measured without being listed: those that a module holds, those that it
gives to `re` where it uses them, and the lines of its wording files.
"""

from __future__ import annotations

import ast
import importlib
import pkgutil
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from functools import cache, partial
from pathlib import Path
from re import _compiler  # type: ignore[attr-defined]  # a part of a tree as a pattern; nothing public makes it
from re import _parser as sre  # type: ignore[attr-defined]  # the tree of a pattern; nothing public shows it
from types import ModuleType
from typing import Any

METHODS = ("search", "match", "fullmatch", "finditer", "findall", "sub", "subn", "split")
CLASSES = " \t\n\u00a0\u200baA0_-!.,;:<>()[]{}@\"'`=?*/\\|&#%$+~^éßяก日あ한ا\u202e"
SERVICES = Path(importlib.import_module("services").__path__[0])


@dataclass(frozen=True)
class Used:
    """A pattern, where it stands, and the methods by which it meets text."""

    place: str
    pattern: re.Pattern[Any]
    methods: tuple[str, ...]


def modules_of(package: str) -> list[str]:
    """A package or module and all modules below it, by name."""
    path = getattr(importlib.import_module(package), "__path__", [])
    return [package, *(info.name for info in pkgutil.walk_packages(path, package + "."))]


@cache
def patterns_of(name: str) -> list[Used]:
    """All patterns of a module, each once."""
    module = importlib.import_module(name)
    found: dict[tuple[str, int], Used] = {}
    for place, pattern, methods in (*_held(module), *_given(module)):
        key = (str(pattern.pattern), pattern.flags)
        known = found[key].methods if key in found else ()
        if methods or not known:
            methods = {*known, *(methods or {"search"})}
            found[key] = Used(f"{name}:{place}", pattern, tuple(sorted(methods)))
    return list(found.values())


def _held(module: ModuleType) -> Iterator[tuple[str, re.Pattern[Any], set[str]]]:
    for name, value in vars(module).items():
        if isinstance(value, re.Pattern):
            yield name, value, _calls(module if name.startswith("_") else None).get(name, set()) or {"search"}
        elif getattr(value, "__module__", module.__name__) == module.__name__:
            for field, pattern in patterns_within(value):
                yield name, pattern, _calls(None).get(field, set()) or {"search"}


def patterns_within(value: object, field: str = "", depth: int = 0) -> Iterator[tuple[str, re.Pattern[Any]]]:
    """The patterns that a constant holds, however it is put together, each with the field of a dataclass that has it."""
    if isinstance(value, re.Pattern):
        yield field, value
    elif depth < 5 and isinstance(value, Mapping):
        for one in (*value, *value.values()):
            yield from patterns_within(one, field, depth + 1)
    elif depth < 5 and isinstance(value, list | tuple | set | frozenset):
        for one in value:
            yield from patterns_within(one, field, depth + 1)
    elif depth < 5 and is_dataclass(value) and not isinstance(value, type):
        for one in fields(value):
            yield from patterns_within(getattr(value, one.name), one.name, depth + 1)


@cache
def _calls(module: ModuleType | None) -> dict[str, set[str]]:
    """Name of a constant to the methods that are called on it, in one module or, where it is public, in all."""
    calls: dict[str, set[str]] = {}
    for path in [Path(module.__file__ or "")] if module else SERVICES.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Attribute) and node.attr in METHODS:
                held = node.value
                name = held.id if isinstance(held, ast.Name) else held.attr if isinstance(held, ast.Attribute) else ""
                calls.setdefault(name, set()).add(node.attr)
    return calls


def _given(module: ModuleType) -> Iterator[tuple[str, re.Pattern[Any], set[str]]]:
    """`re.search(r"...", text)` and its like; what is put together from the arguments of a function cannot be seen."""
    source = Path(module.__file__ or "").read_text(encoding="utf-8") if module.__file__ else ""
    for node in ast.walk(ast.parse(source)):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args):
            continue
        called = node.func
        if not (
            isinstance(called.value, ast.Name) and called.value.id == "re" and called.attr in (*METHODS, "compile")
        ):
            continue
        flags = next((one.value for one in node.keywords if one.arg == "flags"), None)
        if called.attr == "compile" and len(node.args) > 1:
            flags = node.args[1]
        try:
            pattern = re.compile(_value(node.args[0], module), _value(flags, module) if flags else 0)
        except NameError:
            continue
        yield f"line {node.lineno}", pattern, {called.attr} - {"compile"}


def _value(expression: ast.expr, module: ModuleType) -> Any:
    return eval(compile(ast.Expression(expression), "<pattern>", "eval"), {**vars(sys.modules["re"]), **vars(module)})


def hostile_texts(pattern: re.Pattern[Any]) -> Iterator[Callable[[int], str | bytes]]:
    """Runs of each class of character, and for each repeat of the pattern its way there, the repeat, and a bad end.

    Each in the size that is asked for.
    """
    pieces = (*told_apart(pattern), *_pumps(pattern))
    for head, pump in dict.fromkeys(piece if isinstance(piece, tuple) else ("", piece) for piece in pieces):
        yield partial(_hostile, isinstance(pattern.pattern, bytes), head, pump)


def told_apart(pattern: re.Pattern[Any]) -> list[str]:
    """One of those `CLASSES` between which nothing in the pattern tells: it takes the same steps on a run of either."""
    if isinstance(pattern.pattern, bytes):
        return list(CLASSES)
    leaves = [
        re.compile(r"\w"),
        re.compile(r"\n"),
        *set(_leaves(sre.parse(pattern.pattern, pattern.flags), pattern.flags)),
    ]
    kinds = {tuple(leaf.match(one) is None for leaf in leaves): one for one in reversed(CLASSES)}
    return list(kinds.values())


def _leaves(tree: Any, flags: int) -> Iterator[re.Pattern[str]]:
    """Whatever in a tree matches one character, each as a pattern of its own."""
    for kind, given in tree:
        name = str(kind)
        if name in ("LITERAL", "NOT_LITERAL", "IN", "ANY"):
            yield _leaf(kind, tuple(given) if isinstance(given, list) else given, flags)
        else:
            for body, body_flags in _bodies(name, given, flags):
                yield from _leaves(body, body_flags)


def _bodies(name: str, given: Any, flags: int) -> list[tuple[Any, int]]:
    """The trees within a node that is no leaf, each with the flags that hold there."""
    if name == "SUBPATTERN":
        _, added, taken, body = given
        return [(body, (flags | added) & ~taken)]
    if name == "BRANCH":
        return [(one, flags) for one in given[1]]
    if name == "GROUPREF_EXISTS":
        return [(one, flags) for one in given[1:] if one is not None]
    if name in ("AT", "GROUPREF"):
        return []
    return [(given if name == "ATOMIC_GROUP" else given[-1], flags)]  # repeats and lookarounds end with their body


@cache
def _leaf(kind: Any, given: Any, flags: int) -> re.Pattern[str]:
    body = list(given) if isinstance(given, tuple) else given
    pattern: re.Pattern[str] = _compiler.compile(sre.SubPattern(sre.State(), [(kind, body)]), flags)
    return pattern


def _hostile(as_bytes: bool, head: str, pump: str, size: int) -> str | bytes:
    text = head + pump * (size // max(len(pump), 1)) + "\x00"
    return text.encode("utf-8", "replace") if as_bytes else text


def _pumps(pattern: re.Pattern[Any]) -> Iterable[tuple[str, str] | str]:
    """(what comes before, what repeats) for each repeat; and each literal alone."""
    tree = sre.parse(pattern.pattern, pattern.flags)
    pumps: list[tuple[str, str] | str] = []
    _walk(tree, "", pumps)
    return [one for one in pumps if (one[1] if isinstance(one, tuple) else one)]


def _walk(tree: Any, before: str, pumps: list[tuple[str, str] | str]) -> str:
    """A short text that the tree matches; the pumps on the way are collected."""
    said = ""
    for kind, given in tree:
        name = str(kind)
        if name in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
            least, _, body = given
            one = _walk(body, before + said, pumps)
            pumps += [(before + said, one), one]
            said += one * min(max(least, 1), 40)
        elif name == "BRANCH":
            branches = [_walk(one, before + said, pumps) for one in given[1]]
            pumps += [text for one in branches for text in (one, one + " ")]
            said += branches[0]
        elif name in ("SUBPATTERN", "ATOMIC_GROUP"):
            said += _walk(given[3] if name == "SUBPATTERN" else given, before + said, pumps)
        elif name in ("ASSERT", "ASSERT_NOT"):
            _walk(given[1], before + said, pumps)
        else:
            said += _one(name, given)
    if said:
        pumps += [said, said + " "]
    return said


def _one(name: str, given: Any) -> str:
    """A character, or nothing, that a leaf of the tree matches."""
    if name == "IN":
        return _member(given)
    if name == "LITERAL":
        return chr(given)
    if name == "NOT_LITERAL":
        return "a" if chr(given) != "a" else "b"
    return "a" if name == "ANY" else ""


def _member(given: Any) -> str:
    """One character of a set."""
    for kind, value in given:
        name = str(kind)
        if name == "NEGATE":
            return next(c for c in "aA0 -!\n\x01é" if not _in(c, given[1:]))
        if name == "LITERAL":
            return chr(value)
        if name == "RANGE":
            return chr(value[0])
        if name == "CATEGORY":
            return _of_category(str(value))
    return "a"


def _in(character: str, given: Any) -> bool:
    return any(
        (str(kind) == "LITERAL" and chr(value) == character)
        or (str(kind) == "RANGE" and value[0] <= ord(character) <= value[1])
        or (str(kind) == "CATEGORY" and _is(character, str(value)))
        for kind, value in given
    )


def _of_category(name: str) -> str:
    return next(c for c in "a0 -" if _is(c, name))


def _is(character: str, category: str) -> bool:
    name = category.removeprefix("CATEGORY_")
    if name.startswith("NOT_"):
        return not _is(character, name.removeprefix("NOT_"))
    if "DIGIT" in name:
        return character.isdigit()
    if "SPACE" in name:
        return character.isspace()
    return character.isalnum() or character == "_"


def use(used: Used, method: str, text: str | bytes) -> None:
    """Let the pattern meet the text as its module does."""
    call = getattr(used.pattern, method)
    if method in ("sub", "subn"):
        call(b"" if isinstance(text, bytes) else "", text)
    elif method == "finditer":
        for _ in call(text):
            pass
    else:
        call(text)
