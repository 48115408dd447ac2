"""docs/rules.md says where each rule is decided: what it names is there."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

from pydantic import BaseModel

from services.core.settings import Settings

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/rules.md").read_text(encoding="utf-8")
ROWS = [
    row.strip("|").split("|") for row in re.findall(r"(?m)^\|.*\|$", PAGE) if not row.startswith(("| rule", "|---"))
]
DECIDED = re.compile(r"`((?:services|schemas)/[\w./]+)`(?:: (`\w+`(?:, `\w+`)*))?")


def settings_named(annotation: Any) -> Iterator[type[BaseModel]]:
    """The groups of settings in an annotation, however it is wrapped."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for part in get_args(annotation):
        yield from settings_named(part)


def is_setting(name: str) -> bool:
    groups: list[type[BaseModel]] = [Settings]
    for part in name.split("."):
        found = [one.model_fields[part].annotation for one in groups if part in one.model_fields]
        if not found:
            return False
        groups = [group for annotation in found for group in settings_named(annotation)]
    return True


def test_a_rule_was_decided_where_the_page_did_not_say() -> None:
    """Each row names a file, and what is named in it is defined there."""
    for rule, where, _ in ROWS:
        places = DECIDED.findall(where)
        assert places, rule
        for path, names in places:
            code = (ROOT / path).read_text(encoding="utf-8")
            for name in re.findall(r"\w+", names):
                assert re.search(rf"(?m)^(?:async )?(?:def|class) {name}\b|^{name}\b.*=", code), f"{path}: {name}"


def test_a_rule_named_a_setting_that_there_is_not() -> None:
    """What moves a rule is a setting of the deployment or of an inbox."""
    named = [name for row in ROWS for name in re.findall(r"`([\w.]+)`", row[2])]
    assert [name for name in named if not is_setting(name)] == []
    assert len(ROWS) > 50
