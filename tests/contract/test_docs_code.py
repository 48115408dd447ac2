"""Code and paths that the docs show are those of the tree."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = sorted(
    [
        *(path for path in ROOT.glob("*.md") if path.name != "CHANGELOG.md"),
        *(ROOT / "docs").rglob("*.md"),
        *(ROOT / "services").rglob("*.md"),
        *(ROOT / "schemas").glob("*.md"),
        ROOT / "tests" / "README.md",
    ]
)
EXCERPT = re.compile(r"^From `([^`]+)`:\n\n```\w+\n(.*?)^```", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"\]\((?!https?:|mailto:|#)([^)#\s]+)")
PLACEHOLDER = re.compile(r"/(?:NAME|TYPE|NNNN_name)\b")
NAMED = re.compile(r"`((?:services|schemas|tests|docs|deploy)/[\w./-]*[\w/])`")


def test_the_layer_that_is_shown_whole_is_the_layer() -> None:
    """docs/how-to/write-a-layer.md shows session.py whole; copy it there again when the file changes."""
    page = (ROOT / "docs/how-to/write-a-layer.md").read_text(encoding="utf-8")
    (shown, *_) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    assert shown == (ROOT / "services/load_memory/layers/session.py").read_text(encoding="utf-8")


def test_every_recipe_that_shows_code_shows_the_trees() -> None:
    """docs/how-to/extend.md says `From PATH:` above each block; its lines stand in that file, together."""
    excerpts = EXCERPT.findall((ROOT / "docs/how-to/extend.md").read_text(encoding="utf-8"))
    assert len(excerpts) > 10
    assert [path for path, code in excerpts if code not in (ROOT / path).read_text(encoding="utf-8")] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_a_page_named_a_file_that_had_moved(page: Path) -> None:
    """Links lead somewhere, and paths between backquotes exist."""
    text = page.read_text(encoding="utf-8")
    links = [link for link in LINK.findall(text) if not (page.parent / link).exists()]
    paths = [path for path in NAMED.findall(text) if not (PLACEHOLDER.search(path) or (ROOT / path).exists())]
    assert links + paths == []
