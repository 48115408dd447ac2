"""One table, one writer (architecture rule 3): held against every SQL statement."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import services
from schemas.topics import catalogue

SERVICES = Path(services.__file__).parent
MIGRATIONS = SERVICES / "core" / "db" / "migrations"
TABLES = catalogue().tables
# Vectors are a cache by (model, hash of text), words one of the text, outside of every state hash: memory and operations
# fill them in.
CACHED_COLUMNS = {
    table: {"embedding", "embedding_model", "words"}
    for table in ("facts", "chunks", "conversation_passages", "thread_summaries", "memory_periods")
}
# A rebuild folds stored events into a fresh database, where it keeps the versions that no unit of work counts.
# An erase takes back the versions of what it folds anew, and the receipts of mail that is gone.
OPERATORS = {"operations": {"aggregates", "receipts"}}

_COMMENT = re.compile(r"--[^\n]*")
_WRITE = re.compile(
    r"\b(?:INSERT\s+INTO|DELETE\s+FROM|MERGE\s+INTO|TRUNCATE(?:\s+TABLE)?|COPY)\s+(?:ONLY\s+)?(\w+)"
    r"|\bUPDATE\s+(?:ONLY\s+)?(\w+)(?:\s+AS\s+\w+|\s+(?!SET\b)\w+)?\s+SET\b",
    re.IGNORECASE,
)
_CREATED = re.compile(
    r"CREATE\s+TABLE\s+(?:IF\s+NOT\s+EXISTS\s+)?(\w+)(?!\s+PARTITION)\b(?!\s+PARTITION)", re.IGNORECASE
)
_IN_PYTHON = re.compile(r"\b(?:INSERT\s+INTO\s+\w|DELETE\s+FROM\s+\w|UPDATE\s+\w+\s+SET\s+\w)")


def statements(path: Path) -> list[str]:
    return _COMMENT.sub("", path.read_text(encoding="utf-8")).split(";")


def written(statement: str) -> set[str]:
    """The tables that a statement writes to."""
    return {one or other for one, other in _WRITE.findall(statement)}


def columns_set(statement: str) -> set[str]:
    """The columns that an UPDATE sets."""
    body = re.split(r"\bSET\b", statement, maxsplit=1)[-1]
    return set(re.findall(r"(\w+)\s*=", re.split(r"\bWHERE\b", body)[0]))


def folder_of(path: Path) -> str:
    return path.relative_to(SERVICES).parts[0]


def sql_files() -> list[Path]:
    return sorted(path for path in SERVICES.rglob("*.sql") if MIGRATIONS not in path.parents)


def created() -> set[str]:
    return {name for path in MIGRATIONS.glob("*.sql") for name in _CREATED.findall(path.read_text(encoding="utf-8"))}


def test_every_table_of_the_migrations_has_a_writer_and_no_other_is_named() -> None:
    """topics.yaml names exactly the tables that the migrations make."""
    assert created() == set(TABLES)


def test_the_writers_are_folders() -> None:
    """A table's writer is a folder below services/."""
    assert {owner for owner in TABLES.values() if not (SERVICES / owner).is_dir()} == set()


@pytest.mark.parametrize("path", sql_files(), ids=lambda path: str(path.relative_to(SERVICES)))
def test_a_folder_writes_only_its_own_tables(path: Path) -> None:
    """Only the owner's statements insert, update or delete; caches of vectors and a rebuild's versions apart."""
    strangers = {
        f"{table} belongs to {TABLES.get(table)}"
        for statement in statements(path)
        for table in written(statement)
        if TABLES.get(table) != folder_of(path)
        and table not in OPERATORS.get(folder_of(path), set())
        and not columns_set(statement) <= CACHED_COLUMNS.get(table, set())
    }
    assert strangers == set()


@pytest.mark.parametrize("table", sorted(TABLES))
def test_the_writer_of_a_table_does_write_it(table: str) -> None:
    """topics.yaml names no writer that never writes: somebody fills each table, and it is that folder."""
    own = [path for path in sql_files() if folder_of(path) == TABLES[table]]
    assert any(table in written(statement) for path in own for statement in statements(path))


def test_no_statement_that_writes_stands_in_python() -> None:
    """SQL lives in .sql files, so that this check sees all of it."""
    found = [str(path) for path in SERVICES.rglob("*.py") if _IN_PYTHON.search(path.read_text(encoding="utf-8"))]
    assert found == []


@pytest.mark.parametrize(
    ("statement", "tables"),
    [
        ("INSERT INTO a (x) VALUES (1) ON CONFLICT (x) DO UPDATE SET x = excluded.x", {"a"}),
        ("WITH old AS (DELETE FROM b WHERE x) INSERT INTO a (x) SELECT 1", {"a", "b"}),
        ("UPDATE a AS t SET x = 1", {"a"}),
        ("update only a t\nset x = 1", {"a"}),
        ("SELECT * FROM a FOR UPDATE SKIP LOCKED", set()),
        ("TRUNCATE a", {"a"}),
    ],
)
def test_the_check_sees_what_a_statement_writes(statement: str, tables: set[str]) -> None:
    """Every way to write is seen, and a read is none."""
    assert written(statement) == tables
