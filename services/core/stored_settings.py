"""Settings that people changed while the deployment ran, as Postgres keeps them; `settings_keeper` takes them on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any

from psycopg.errors import UndefinedTable

from services.core.db import Database, fetch_all, fetch_one, queries

if TYPE_CHECKING:
    from services.core.settings import Settings

SQL = queries(__file__, "stored_settings.sql")


@dataclass(frozen=True, slots=True)
class StoredValue:
    """A value that somebody stored, JSON, and in which change."""

    value: Any
    version: int
    at: datetime
    by: str
    reason: str


@dataclass(frozen=True, slots=True)
class Stored:
    """What is stored: the values by name, and the version, which counts changes; 0 where there never was one."""

    version: int = 0
    values: Mapping[str, StoredValue] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class InForce:
    """What a process goes by: the settings that it started with, what is stored, and what of that does not count."""

    given: Settings | None = None
    stored: Stored = Stored()
    ignored: Mapping[str, str] = field(default_factory=dict)


async def read_stored(database: Database, workspace: str) -> Stored:
    """What is stored; nothing in a database of a release that had no such table."""
    try:
        async with database.reading() as conn:
            rows = await fetch_all(conn, SQL.current, {"workspace": workspace})
    except UndefinedTable:
        return Stored()
    values = {
        row["name"]: StoredValue(row["value"], row["version"], row["at"], row["by"], row["reason"])
        for row in rows
        if row["is_set"]
    }
    return Stored(rows[0]["newest"] if rows else 0, values)


async def newest_version(database: Database, workspace: str) -> int:
    """The version of the newest change."""
    try:
        async with database.reading() as conn:
            row = await fetch_one(conn, SQL.newest, {"workspace": workspace})
    except UndefinedTable:
        return 0
    return int(row["version"]) if row else 0
