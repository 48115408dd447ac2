"""SQL from files: each statement by its name, and a missing one is said at once."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

import services
from services.core.db.migrate import _yoyo_url
from services.core.db.sql import Queries, queries

FILES = sorted(path for path in Path(services.__file__).parent.rglob("*.sql") if path.parent.name != "migrations")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "queries.sql"
    path.write_text(
        "-- of a test\n-- name: one\n-- The first.\nSELECT 1;\n\n-- name: two\nSELECT 2\nWHERE ';' = ';';\n"
    )
    return path


def test_a_statement_is_its_text_without_the_last_semicolon(file: Path) -> None:
    """A statement keeps its comment and its inner semicolons; what stands before the first name is nobody's."""
    found = Queries(file)
    assert found.names() == ("one", "two")
    assert found.one == "-- The first.\nSELECT 1"
    assert found.two == "SELECT 2\nWHERE ';' = ';'"


def test_a_missing_statement_is_said_with_its_file(file: Path) -> None:
    """A misspelt name fails where it is used."""
    with pytest.raises(AttributeError, match=r"queries\.sql has no statement named 'three'"):
        _ = Queries(file).three


def test_queries_lie_beside_their_module(file: Path) -> None:
    """A module names itself, and gets the file in its own folder."""
    assert queries(str(file.with_name("handler.py"))).names() == ("one", "two")
    with pytest.raises(FileNotFoundError):
        queries(str(file.with_name("handler.py")), "others.sql")


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_no_file_names_a_statement_twice(path: Path) -> None:
    """A second statement of the same name would silently replace the first."""
    names = [line.split(":")[1].strip() for line in path.read_text().splitlines() if line.startswith("-- name:")]
    assert names
    assert [name for name, times in Counter(names).items() if times > 1] == []
    assert list(Queries(path).names()) == names


@pytest.mark.parametrize("scheme", ["postgresql", "postgres"])
def test_migrations_use_the_driver_that_is_installed(scheme: str) -> None:
    """Whatever the scheme is called, yoyo is told to use psycopg 3."""
    waits = "options=-c%20lock_timeout%3D5s"
    assert _yoyo_url(f"{scheme}://u:p@host:1/db?x=1") == f"postgresql+psycopg://u:p@host:1/db?x=1&{waits}"


def test_the_wait_for_a_table_took_the_place_of_the_schema_that_a_sandbox_names() -> None:
    """Options that are there stay: a rebuild's tables are made in its own schema."""
    url = _yoyo_url("postgresql://u@h/db?options=-c%20search_path%3Dpast")
    assert url.endswith("?options=-c%20lock_timeout%3D5s%20-c%20search_path%3Dpast")


def test_another_database_is_refused_in_words() -> None:
    """A URL of something else is said before anything is tried."""
    with pytest.raises(ValueError, match="has to begin with postgresql://, not mysql://"):
        _yoyo_url("mysql://host/db")
