"""Postgres: the pool, named SQL, migrations."""

from services.core.db.fetch import (
    fetch_all,
    fetch_all_planned,
    fetch_one,
    fetch_several,
    first_as,
    row_as,
    rows_as,
    sealed_rows_as,
)
from services.core.db.pool import Connection, Database, give_keys, keys_of
from services.core.db.sql import Queries, queries

__all__ = [
    "Connection",
    "Database",
    "Queries",
    "fetch_all",
    "fetch_all_planned",
    "fetch_one",
    "fetch_several",
    "first_as",
    "give_keys",
    "keys_of",
    "queries",
    "row_as",
    "rows_as",
    "sealed_rows_as",
]
