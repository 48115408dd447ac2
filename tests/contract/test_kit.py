"""The page `/kit` shows each part that pages share: a new one cannot be forgotten."""

from __future__ import annotations

import re

from tests.catalogues import CONSOLE

TEMPLATES = CONSOLE / "templates"
SHARED = [TEMPLATES / "parts.html", TEMPLATES / "facts.html", *sorted(TEMPLATES.glob("*_parts.html"))]


def test_every_shared_part_is_on_the_kit() -> None:
    """By the name of its macro, called there or by another part that is."""
    kit = (TEMPLATES / "kit.html").read_text(encoding="utf-8")
    parts = {name: body for path in SHARED for name, body in _macros(path.read_text(encoding="utf-8"))}
    assert len(parts) > 25
    shown, more = set[str](), {name for name in parts if f".{name}(" in kit}
    while more:
        shown |= more
        more = {name for name in parts for by in shown if re.search(rf"\b{name}\(", parts[by])} - shown
    assert parts.keys() - shown == set()


def _macros(template: str) -> list[tuple[str, str]]:
    return re.findall(r"{% macro (\w+)\([^\n]*?%}(.*?){%-? ?endmacro %}", template, re.DOTALL)
