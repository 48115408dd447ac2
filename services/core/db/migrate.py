"""Migrations: plain SQL files in yoyo's order, each once; also at every first start, by several processes at once.

Invariants
- Who migrates holds an advisory lock of Postgres, which ends with its holder. Yoyo's own lock is a row: a process
  killed while it held one would keep every other from starting.
- A migration and the mark that it was applied are one transaction. Yoyo makes two, and a process killed between them
  would apply it twice; it also connects anew for each file, which is most of what a new database costs.
- No migration waits for a table for longer than `LOCK_TIMEOUT_S`: whoever waits for one keeps everybody who comes after
  it waiting, too. It is tried again then.
"""

from __future__ import annotations

import logging
import time
from contextlib import closing
from functools import cache
from pathlib import Path

import psycopg
from yoyo import get_backend, read_migrations
from yoyo.migrations import MigrationList

from services.core.errors import Temporary

log = logging.getLogger(__name__)

MIGRATIONS = Path(__file__).with_name("migrations")
LOCK = 6_170_114  # the number of the advisory lock; nothing else in the database uses it
CONNECT_S = 10
LOCK_TIMEOUT_S = 5
MOST_TRIES = 12
PAUSE_S = 5.0


class TablesInUse(Temporary):
    """A migration could not lock its tables: something works in them for long."""


def migrate(database_url: str) -> list[str]:
    """Bring the database up to date; the ids of the migrations that were applied now."""
    yoyo_url = _yoyo_url(database_url)
    with psycopg.connect(database_url, autocommit=True, connect_timeout=CONNECT_S) as holder:
        holder.execute("SELECT pg_advisory_lock(%s)", [LOCK])
        names: list[str] = []
        for tries in range(1, MOST_TRIES + 1):
            try:
                _apply(yoyo_url, names)
            except psycopg.errors.LockNotAvailable as error:
                if tries == MOST_TRIES:
                    raise TablesInUse from error
                log.warning("a migration waits for its tables, try %d of %d: %s", tries, MOST_TRIES, error)
                time.sleep(PAUSE_S)
            else:
                break
    return names


def _apply(yoyo_url: str, names: list[str]) -> None:
    """Apply what is pending, each file whole with its mark in one transaction, and note its names."""
    backend = get_backend(yoyo_url)
    with closing(backend.connection):
        for migration in backend.to_apply(_read(MIGRATIONS)):
            with backend.transaction():
                backend.cursor().execute(migration.source)
                backend.log_migration(migration, "apply")
                backend.mark_one(migration, log=False)
            names.append(migration.id)


@cache
def _read(folder: Path) -> MigrationList:
    """The migrations of a folder, read and split once a process: a replay makes a schema for each of its runs."""
    return read_migrations(str(folder))


def _yoyo_url(database_url: str) -> str:
    scheme, rest = database_url.split("://", 1)
    if scheme not in ("postgresql", "postgres"):
        raise ValueError(f"database_url has to begin with postgresql://, not {scheme}://")
    waits = f"-c%20lock_timeout%3D{LOCK_TIMEOUT_S}s"
    if "options=" in rest:  # a sandbox names its schema there
        return f"postgresql+psycopg://{rest.replace('options=', f'options={waits}%20', 1)}"
    return f"postgresql+psycopg://{rest}{'&' if '?' in rest else '?'}options={waits}"
