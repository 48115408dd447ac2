"""Migrations: plain SQL files applied by yoyo, in order, once, under a lock; also at every first start."""

from __future__ import annotations

from pathlib import Path

from yoyo import get_backend, read_migrations

MIGRATIONS = Path(__file__).with_name("migrations")


def migrate(database_url: str) -> list[str]:
    """Bring the database up to date; the ids of the migrations that were applied now."""
    backend = get_backend(_yoyo_url(database_url))
    migrations = read_migrations(str(MIGRATIONS))
    with backend.lock():
        pending = backend.to_apply(migrations)
        names = [migration.id for migration in pending]
        backend.apply_migrations(pending)
    backend.connection.close()
    return names


def _yoyo_url(database_url: str) -> str:
    scheme, rest = database_url.split("://", 1)
    if scheme not in ("postgresql", "postgres"):
        raise ValueError(f"database_url has to begin with postgresql://, not {scheme}://")
    return f"postgresql+psycopg://{rest}"
