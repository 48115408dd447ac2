"""What a user reads speaks the words of the field: pages, settings, their example file, errors, what commands print."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.vocabulary import DIALECT

ROOT = Path(__file__).parents[2]
SAYING = {"print", "say", "report", "plain", "cell", "BadParameter", "Option", "Argument", "Typer", "Field"}
LOGGING = {"info", "warning", "error"}
PAGES = sorted(
    path
    for pattern in ("*.md", "docs/**/*.md", "services/**/*.md", "schemas/*.md", "deploy/**/*.md", "tests/README.md")
    for path in ROOT.glob(pattern)
)
MODULES = sorted([*(ROOT / "services").rglob("*.py"), *(ROOT / "deploy").rglob("*.py")])


def test_the_front_page_of_make_speaks_the_words_of_the_field() -> None:
    """`make` prints what stands behind ## in the Makefile."""
    lines = (ROOT / "Makefile").read_text(encoding="utf-8").splitlines()
    assert [line for line in lines if DIALECT.search(line)] == []


def test_the_example_of_all_settings_speaks_the_words_of_the_field() -> None:
    """Each description of a setting is in the file, so that this holds for them, too."""
    lines = (ROOT / "correspondent.example.toml").read_text(encoding="utf-8").splitlines()
    assert [line for line in lines if DIALECT.search(line)] == []


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_pages_speak_the_words_of_the_field(path: Path) -> None:
    """No page uses a word that was struck out, between two lines neither; names of code may."""
    prose = " ".join(re.sub(r"`[^`\n]+`", "", path.read_text(encoding="utf-8")).split())
    assert [prose[max(0, at.start() - 40) : at.end() + 20] for at in DIALECT.finditer(prose)] == []


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_messages_speak_the_words_of_the_field(path: Path) -> None:
    """No text that is raised, printed or logged, and no help of an option, uses a word that was struck out."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    assert [(line, text) for line, text in _messages(tree) if DIALECT.search(text)] == []


def _messages(tree: ast.AST) -> Iterator[tuple[int, str]]:
    for node in ast.walk(tree):
        said = node.exc if isinstance(node, ast.Raise) else node
        if isinstance(said, ast.Call) and (isinstance(node, ast.Raise) or _name(said.func) in SAYING | LOGGING):
            for part in ast.walk(said):
                if isinstance(part, ast.Constant) and isinstance(part.value, str) and " " in part.value:
                    yield part.lineno, part.value


def _name(called: ast.expr) -> str:
    return called.attr if isinstance(called, ast.Attribute) else called.id if isinstance(called, ast.Name) else ""
