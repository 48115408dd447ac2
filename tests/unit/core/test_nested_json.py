"""JSON that is nested without end is no JSON: Python says so by an error that is no `ValueError`."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import services

ROOT = Path(services.__file__).parent
READS = {"loads", "raw_decode"}


def guarded_reads() -> Iterator[tuple[str, set[str]]]:
    """Where the tree reads JSON and expects that it is none, with the errors that it expects."""
    for path in sorted(ROOT.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Try) and any(_reads(one) for part in node.body for one in ast.walk(part)):
                caught = {
                    one.id
                    for hand in node.handlers
                    if hand.type
                    for one in ast.walk(hand.type)
                    if isinstance(one, ast.Name)
                }
                yield f"{path.relative_to(ROOT)}:{node.lineno}", caught


def _reads(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in READS


def test_json_that_is_nested_without_end_stopped_its_reader() -> None:
    """Whoever expects that a text is no JSON expects that it is nested too deep, too."""
    reads = dict(guarded_reads())
    assert len(reads) >= 6
    assert {place: caught for place, caught in reads.items() if not {"RecursionError", "Exception"} & caught} == {}
