"""Copies of the keys of data subjects: kept apart from backups, for days, and remembered, so that they go in time.

Invariants
- A person who was erased can be read again as long as there are both a backup of their events and a copy of their key.
  So each copy has a last day, and the first `backup` or `forget` after it deletes the copy.
- The newest copy stays, whatever its day: without it no backup could be read.
- Deleted is only what `keep_keys` wrote and nobody has changed since.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from services.core.clock import utc_now
from services.core.db import Connection, fetch_all, fetch_one, queries
from services.core.keys.master import FILE as MASTER
from services.core.settings import Settings
from services.operations.backup import postgres
from services.operations.rebuild.shadow_schema import connected

SQL = queries(__file__)
KEYS = ("subject_keys",)
COPIES = "key_copies"  # which copies of keys there are is not in a backup: elsewhere the same path is another file
SLACK = timedelta(minutes=5)  # between our clock and that of the disk that holds a copy


@dataclass(frozen=True, slots=True)
class KeyCopy:
    """A file of keys, when it was written, and when it goes."""

    path: str
    taken_at: datetime
    until: datetime


async def keep_keys(settings: Settings, path: Path, *, days: float) -> bool:
    """Write the keys of data subjects to a file of their own, master keys next to it; False where there are none.

    Master keys that stand in the settings stay there. The copy goes after `days`.
    """
    async with connected(settings.database_url) as conn:
        there = [key for key in KEYS if await _is_there(conn, key)]
    if there:
        await asyncio.to_thread(_write_keys, settings.database_url, path, there)
        await asyncio.to_thread(_copy_master_keys, settings.home / MASTER, master_beside(path))
        now, where = utc_now(), await asyncio.to_thread(path.resolve)
        args = {"path": str(where), "taken_at": now, "until": now + timedelta(days=days)}
        async with connected(settings.database_url) as conn:
            await conn.execute(SQL.remember_copy, args)
    return bool(there)


async def copies_left(conn: Connection) -> list[KeyCopy]:
    """The copies that are still there, newest first; those whose time has come are deleted, but for the newest."""
    left: list[KeyCopy] = []
    for row in await fetch_all(conn, SQL.copies):
        copy = KeyCopy(**row)
        if await asyncio.to_thread(_is_gone, copy, newest=not left):
            await conn.execute(SQL.forget_copy, {"path": copy.path})
        else:
            left.append(copy)
    return left


def master_beside(path: Path) -> Path:
    """Where the master keys lie for the keys in a file."""
    return path.with_name(f"{path.name}.master")


def _is_gone(copy: KeyCopy, *, newest: bool) -> bool:
    """Whether the copy is not there, or was deleted now. One that somebody else has written since is not ours."""
    path = Path(copy.path)
    if not path.exists():
        return True
    if newest or utc_now() < copy.until:
        return False
    if datetime.fromtimestamp(path.stat().st_mtime, UTC) <= copy.taken_at + SLACK:
        path.unlink()
        master_beside(path).unlink(missing_ok=True)
    return True


def _copy_master_keys(source: Path, to: Path) -> None:
    if source.exists():
        to.touch(mode=0o600)
        to.write_bytes(source.read_bytes())


def _write_keys(database_url: str, path: Path, tables: Sequence[str]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch(mode=0o600)
    postgres.dump_tables(database_url, path, tables)


async def _is_there(conn: Connection, table: str) -> bool:
    row = await fetch_one(conn, SQL.table_there, {"name": table})
    return bool(row and row["there"])
