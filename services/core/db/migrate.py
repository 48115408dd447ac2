"""Migrations: plain SQL files applied by yoyo, in order, once; also at every first start, by several processes at once.

Invariant: who migrates holds an advisory lock of Postgres, which ends with its holder. Yoyo's own lock is a row: a
process killed while it held one would keep every other from starting. Yoyo prints what a SELECT gives, so a migration
that calls a function does it with PERFORM.
"""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import psycopg
from yoyo import get_backend, read_migrations

MIGRATIONS = Path(__file__).with_name("migrations")
LOCK = 6_170_114  # the number of the advisory lock; nothing else in the database uses it
CONNECT_S = 10


def migrate(database_url: str) -> list[str]:
    """Bring the database up to date; the ids of the migrations that were applied now."""
    yoyo_url = _yoyo_url(database_url)
    with psycopg.connect(database_url, autocommit=True, connect_timeout=CONNECT_S) as holder:
        holder.execute("SELECT pg_advisory_lock(%s)", [LOCK])
        backend = get_backend(yoyo_url)
        with closing(backend.connection):
            pending = backend.to_apply(read_migrations(str(MIGRATIONS)))
            names = [migration.id for migration in pending]
            backend.apply_migrations(pending)
    return names


def _yoyo_url(database_url: str) -> str:
    scheme, rest = database_url.split("://", 1)
    if scheme not in ("postgresql", "postgres"):
        raise ValueError(f"database_url has to begin with postgresql://, not {scheme}://")
    return f"postgresql+psycopg://{rest}"
