"""Each statement that code names stands in its `.sql` file, and each statement of a file is named by code.

A name that is missing shows only when it is used; one that nobody names is dead.
"""

from __future__ import annotations

import ast
import importlib
import pkgutil
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import ModuleType

import services
from services.core.db.sql import Queries


def modules() -> Iterator[ModuleType]:
    """Every module of the services."""
    for found in pkgutil.walk_packages(services.__path__, "services."):
        if not found.name.endswith("__main__"):
            yield importlib.import_module(found.name)


def names_in(module: ModuleType, tree: ast.Module) -> dict[str, object]:
    """What names mean in a module, those included that a function imports from ours when it is called."""
    late = [
        one for one in ast.walk(tree) if isinstance(one, ast.ImportFrom) and (one.module or "").startswith("services")
    ]
    found = {
        alias.asname or alias.name: getattr(importlib.import_module(one.module or ""), alias.name, None)
        for one in late
        for alias in one.names
    }
    return found | vars(module)


def queries_of(names: dict[str, object], node: ast.expr) -> Queries | None:
    """What `SQL` or `module.SQL` means, where it is the statements of a file."""
    found = None
    if isinstance(node, ast.Name):
        found = names.get(node.id)
    elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        found = getattr(names.get(node.value.id), node.attr, None)
    return found if isinstance(found, Queries) else None


@cache
def named() -> tuple[dict[Path, set[str]], dict[Path, set[str]], dict[Path, Queries]]:
    """By file: the statements that code names as attributes; as texts; and the statements that are there."""
    attributes: dict[Path, set[str]] = {}
    texts: dict[Path, set[str]] = {}
    files: dict[Path, Queries] = {}
    for module in modules():
        assert module.__file__
        tree = ast.parse(Path(module.__file__).read_text(encoding="utf-8"))
        words = {one.value for one in ast.walk(tree) if isinstance(one, ast.Constant) and isinstance(one.value, str)}
        names = names_in(module, tree)
        for one in [found for found in names.values() if isinstance(found, Queries)]:
            files[one._path] = one
            texts.setdefault(one._path, set()).update(words)
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and (found := queries_of(names, node.value)) is not None:
                files[found._path] = found
                if node.attr != "names":
                    attributes.setdefault(found._path, set()).add(node.attr)
    return attributes, texts, files


def test_a_statement_that_is_named_is_there() -> None:
    """No code names a statement that its file does not have."""
    attributes, _, files = named()
    missing = {
        f"{path.name}: {name}" for path, names in attributes.items() for name in names - set(files[path].names())
    }
    assert missing == set()


def test_a_statement_that_is_there_is_named() -> None:
    """No file has a statement that no code names, as an attribute or as a text."""
    attributes, texts, files = named()
    dead = {
        f"{path.parent.name}/{path.name}: {name}"
        for path, one in files.items()
        for name in set(one.names()) - attributes.get(path, set()) - texts.get(path, set())
    }
    assert dead == set()


def test_lists_of_vectors_went_to_postgres_as_text() -> None:
    """Of a list psycopg sends text unless `%b` says otherwise: a millisecond of CPU for a vector's 896 numbers."""
    as_text = re.compile(r"%\(\w{1,40}\)[st]::(?:half)?vec(?:tor)?\[\]")
    found = {
        path.name: as_text.findall(path.read_text(encoding="utf-8"))
        for path in Path(services.__path__[0]).rglob("*.sql")
    }
    assert {name: lists for name, lists in found.items() if lists} == {}
