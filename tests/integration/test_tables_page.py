"""docs/concepts/tables.md names every table of a migrated database, and what bounds it."""

from __future__ import annotations

import re
from pathlib import Path

import psycopg

from services.core.settings.storage import ArchiveSettings, RetentionSettings

PAGE = Path(__file__).parents[2] / "docs" / "concepts" / "tables.md"
TABLES = """SELECT c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'p') AND n.nspname = current_schema() AND c.relname !~ '^journal_[0-9]+$'
  AND position('yoyo' IN c.relname) = 0"""
ROW = re.compile(r"^\| `(\w+)` \| ([^|]+) \| ([^|]+) \|$", re.MULTILINE)
SETTING = re.compile(r"`(archive|retention)\.(\w+)`(?: \((\d+)\))?")


def test_a_table_is_missing_on_the_page(database: str) -> None:
    """The page and the schema name the same tables, each once, each with a bound."""
    with psycopg.connect(database) as conn:
        there = {row[0] for row in conn.execute(TABLES)}
    told = [name for name, _, _ in ROW.findall(PAGE.read_text(encoding="utf-8"))]
    assert len(told) == len(set(told))
    assert set(told) == there


def test_the_page_tells_times_that_no_setting_has() -> None:
    """Each setting that is named exists, and has the default that is told."""
    groups = {"archive": ArchiveSettings(), "retention": RetentionSettings()}
    found = SETTING.findall(PAGE.read_text(encoding="utf-8"))
    assert found
    for group, name, days in found:
        assert getattr(groups[group], name) == float(days or 0), (group, name)
