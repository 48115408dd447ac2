"""Postgres: the pool, named SQL, migrations."""

from services.core.db.pool import (
    Connection,
    Database,
    fetch_all,
    fetch_one,
    fetch_sealed,
    fetch_several,
    give_keys,
    keys_of,
)
from services.core.db.sql import Queries, queries

__all__ = [
    "Connection",
    "Database",
    "Queries",
    "fetch_all",
    "fetch_one",
    "fetch_sealed",
    "fetch_several",
    "give_keys",
    "keys_of",
    "queries",
]
