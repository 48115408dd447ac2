"""Searches the files of the Postgres server, byte by byte, where its role lets us read them.

Read are the files of our own database, the write-ahead log, statistics, temporary files and the server's own log. A
long value may be compressed, and then no search finds a word in it: that no such value is left follows from the files
being new (`run.pending`), and is not for this search to say.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from dataclasses import dataclass

from psycopg.errors import InsufficientPrivilege, UndefinedFile

from services.core.app import App
from services.core.db import Connection, fetch_all, fetch_one
from services.core.db.sql import queries
from services.core.errors import Temporary
from services.operations.erase.words import Marks
from services.operations.rebuild.shadow_schema import connected

SQL = queries(__file__, "queries.sql")
PIECE = 4 * 1024 * 1024  # bytes
OVERLAP = 1024
LEAST, LEAST_OF_NUMBER = 6, 5  # characters: shorter ones stand by chance in a gigabyte of sealed rows and vectors
ELSEWHERE = ("pg_wal", "pg_stat", "pg_stat_tmp", "base/pgsql_tmp")
_PART_OR_FORK = re.compile(r"[._].*")


class FilesOutOfReach(Temporary):
    """The database's role may not read the server's files."""


@dataclass(frozen=True, slots=True)
class Words:
    """Marks as bytes. A capital letter that is not ASCII is looked for as well."""

    by_bytes: dict[bytes, str]

    def found_in(self, content: bytes) -> set[str]:
        """Which of them stand in these bytes, as whole words."""
        small = content.lower()
        return {mark for one, mark in self.by_bytes.items() if one in small and _whole(one).search(small)}


def words_in_bytes(marks: Marks) -> Words:
    """What of the marks can be looked for among bytes that mean something else."""
    every = [one for one in marks.phrases | marks.words if _is_long(one)]
    return Words({form.encode().lower(): one for one in every for form in (one, one.upper())})


async def files(app: App) -> AsyncIterator[tuple[str, bytes]]:
    """Every piece of every file, with the file's name. Raises `FilesOutOfReach`."""
    async with connected(app.settings.database_url) as conn:
        try:
            for path, size in await _paths(conn):
                async for piece in _pieces(conn, path, size):
                    yield path, piece
        except InsufficientPrivilege as error:
            raise FilesOutOfReach(
                f"{error.diag.message_primary}: a superuser, or GRANT pg_read_server_files and EXECUTE on pg_ls_dir, "
                "pg_stat_file and pg_read_binary_file"
            ) from None


async def found_on_disk(app: App, marks: Marks) -> tuple[int, set[tuple[str, str]]]:
    """How many pieces were read, and which word stands in which file. Raises `FilesOutOfReach`."""
    words, found, count = words_in_bytes(marks), set[tuple[str, str]](), 0
    async for path, piece in files(app):
        count += 1
        found |= {(path, word) for word in await asyncio.to_thread(words.found_in, piece)}
    return count, found


async def _paths(conn: Connection) -> list[tuple[str, int]]:
    row = await fetch_one(conn, SQL.folder)
    assert row is not None
    catalog = {one["name"] for one in await fetch_all(conn, SQL.catalog_files)}
    found = [
        (f"{folder}/{one['name']}", one["size"])
        for folder in (row["name"], *ELSEWHERE)
        for one in await fetch_all(conn, SQL.files, {"folder": folder})
        if folder != row["name"] or _PART_OR_FORK.sub("", one["name"]) not in catalog
    ]
    log = await fetch_one(conn, SQL.log_file)
    return found + ([(log["name"], -1)] if log and log["name"] else [])


async def _pieces(conn: Connection, path: str, size: int) -> AsyncIterator[bytes]:
    at = 0
    while at < size or size < 0:
        try:
            content = await _piece(conn, path, max(0, at - OVERLAP))
        except UndefinedFile:  # gone meanwhile
            return
        if content:
            yield content
        at += PIECE
        if len(content) < PIECE:
            return


async def _piece(conn: Connection, path: str, at: int) -> bytes:
    """Some bytes of a file, as they are and not as hexadecimal digits."""
    async with conn.cursor(binary=True) as cursor:
        await cursor.execute(SQL.piece, {"path": path, "at": at, "size": PIECE + OVERLAP})
        row = await cursor.fetchone()
    content: bytes = row["content"] if row and row["content"] else b""
    return content


def _is_long(mark: str) -> bool:
    return len(mark) >= (LEAST_OF_NUMBER if any(map(str.isdigit, mark)) else LEAST)


def _whole(word: bytes) -> re.Pattern[bytes]:
    return re.compile(rb"(?<![0-9a-z_])" + re.escape(word) + rb"(?![0-9a-z_])")
