"""Bringing a database up to date while other processes do the same, or died doing it."""

from __future__ import annotations

import asyncio
import shutil
from pathlib import Path

import psycopg
import pytest

from deploy.local import Endpoints
from services.core.db import migrate as migrating
from services.core.db.migrate import MIGRATIONS, migrate
from tests.support.stack import fresh_database

LEFT_BEHIND = "INSERT INTO yoyo_lock (locked, ctime, pid) VALUES (1, now(), 1)"


async def test_several_processes_migrate_at_once(stack: Endpoints) -> None:
    """Each migration is applied once, by one of them, and all of them find a database that is up to date."""
    with fresh_database(stack.database) as url:
        applied = await asyncio.gather(*(asyncio.to_thread(migrate, url) for _ in range(4)))
    assert sorted(map(len, applied)) == [0, 0, 0, len(list(MIGRATIONS.glob("*.sql")))]


def test_a_process_killed_while_migrating_kept_all_others_from_starting(database: str) -> None:
    """What a process left behind that died in its migration holds up nobody."""
    with psycopg.connect(database, autocommit=True) as conn:
        conn.execute(LEFT_BEHIND)
    assert migrate(database) == []


def test_migrations_printed_a_table_for_each_of_their_selects(
    stack: Endpoints, capsys: pytest.CaptureFixture[str]
) -> None:
    """The first start says nothing of its own accord on the terminal."""
    with fresh_database(stack.database) as url:
        assert migrate(url) != []
    assert capsys.readouterr().out == ""


def test_a_migration_that_waited_for_a_table_kept_everybody_else_waiting(
    database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A migration lets go of its wait within seconds and tries again, so that writers go on; in the end it says why."""
    for name, value in {
        "MIGRATIONS": _one_more(tmp_path),
        "LOCK_TIMEOUT_S": 1,
        "PAUSE_S": 0.1,
        "MOST_TRIES": 2,
    }.items():
        monkeypatch.setattr(migrating, name, value)
    with psycopg.connect(database) as reader:
        reader.execute("SELECT count(*) FROM timers")
        with pytest.raises(migrating.TablesInUse):
            migrate(database)
    assert migrate(database) == ["9999_last"]


def test_a_migration_that_ended_before_its_mark_could_never_be_applied_again(
    database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was not marked was not done either: the next start applies it as if nobody had tried."""
    monkeypatch.setattr(migrating, "MIGRATIONS", _one_more(tmp_path))
    with psycopg.connect(database, autocommit=True) as conn:
        conn.execute("ALTER TABLE _yoyo_migration ADD CONSTRAINT no_mark CHECK (migration_id <> '9999_last')")
        with pytest.raises(psycopg.errors.CheckViolation):
            migrate(database)
        conn.execute("ALTER TABLE _yoyo_migration DROP CONSTRAINT no_mark")
    assert migrate(database) == ["9999_last"]


def _one_more(folder: Path) -> Path:
    """The migrations, and behind them one that wants a table."""
    migrations = Path(shutil.copytree(MIGRATIONS, folder / "migrations"))
    statement = "-- Wants a table.\n\nALTER TABLE timers ADD COLUMN more int;\n"
    (migrations / "9999_last.sql").write_text(statement)
    return migrations


def test_a_rebuild_would_drop_an_index_that_calls_a_function_of_ours(database: str) -> None:
    """A rebuilt table comes with its indexes from a schema that is dropped, and that schema's functions with it."""
    query = """SELECT i.relname FROM pg_depend d JOIN pg_class i ON i.oid = d.objid AND i.relkind = 'i'
               JOIN pg_proc p ON d.refclassid = 'pg_proc'::regclass AND p.oid = d.refobjid
               WHERE d.classid = 'pg_class'::regclass AND p.pronamespace = current_schema()::regnamespace"""
    with psycopg.connect(database) as conn:
        assert conn.execute(query).fetchall() == []
