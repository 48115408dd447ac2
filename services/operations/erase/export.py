"""All that is held about a person, in files that anybody can read: JSON, and mails as .eml.

Invariant: nothing of anybody else. Of a thread in which others wrote, their mails are left out, and so is what was made
from the whole conversation.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from io import BytesIO
from operator import attrgetter
from pathlib import Path
from typing import Any
from uuid import UUID
from zipfile import ZIP_DEFLATED, ZipFile

from psycopg import sql

from schemas.events.mail import EmailRead
from schemas.events.replies import MemoryLoaded, ReplyApproved
from schemas.topics import catalogue
from services.core.app import App
from services.core.archive.archive import archive_of
from services.core.blobs import BlobMissing
from services.core.bus.event_row import EventRow
from services.core.db import Connection, fetch_all, queries
from services.core.errors import Permanent
from services.core.keys import Erased
from services.operations.erase.survey import SQL, Survey, key_of, sealed_rows, wrote
from services.pipeline import PROCESSORS

EXPORT = queries(__file__, "export.sql")
TableRow = dict[str, Any]  # of any table: its columns are known when they are asked for
ABOUT = """Everything that is held about {who}.

person/    one file a table: facts with where each is from (fact_sources), threads, conversation, deliveries
mails/     the mails as they came, and what was read of them
replies/   the mails that were sent, or written to be sent
               sender_level says how far the sender of a row's mail or thread is believed: what is `unverified` or
               `failed` came in this person's name, and nothing proves that it is theirs
events.jsonl   every event about the person, in the order in which it was stored
"""


async def export(app: App, found: Survey, add: Add) -> dict[str, int]:
    """Give every file of it to `add`, archived events included; how many of each kind.

    Raises what `add` does, `ArchiveMissing` or `ArchiveDamaged`: half of what is held is never given for all of it.
    """
    async with app.database.reading() as conn:
        stored = await sealed_rows(conn, found, found.keys, archive_of(app.settings))
        rows = sorted((row for row in stored if not row.is_sealed), key=attrgetter("seq"))
        tables = await _tables(conn, found)
    rows = [row for row in rows if _is_theirs(found, row)]
    counts = {"events": _events(rows, add), "tables": _add_tables(tables, add)}
    counts["mails"] = await _mails(app, rows, add, "mails", EmailRead.TYPE, "mail_id")
    counts["replies"] = await _mails(app, rows, add, "replies", ReplyApproved.TYPE, "reply_id")
    who = ", ".join(sorted(found.addresses)) or str(next(iter(found.people)))
    add("README.txt", ABOUT.format(who=who).encode())
    return counts


def _is_theirs(found: Survey, row: EventRow) -> bool:
    """Whether it holds nothing of anybody else: a mail of theirs, or what is sealed with a key of theirs alone."""
    if row.type == EmailRead.TYPE:
        return wrote(row, found.people)
    if row.type == MemoryLoaded.TYPE:  # repeats what stands elsewhere, and what others told us in their threads
        return False
    key = key_of(row)
    return key is None or found.keys[key] <= found.people


async def _tables(conn: Connection, found: Survey) -> dict[str, list[TableRow]]:
    """The rows of every projection that are the person's, or of a thread that is."""
    args = {"workspace": found.workspace, "people": list(found.people)}
    threads = [row["thread_id"] for row in await fetch_all(conn, EXPORT.threads_alone, args)]
    mails = [row["mail_id"] for row in await fetch_all(conn, EXPORT.own_mails, args)]
    names = {one.name for one in PROCESSORS}
    wanted = [table for table, writer in catalogue().tables.items() if writer in names]
    columns = await fetch_all(conn, SQL.columns, {"tables": wanted})
    have = {row["name"]: set(row["columns"]) for row in columns}
    rows = {table: await _rows(conn, table, have.get(table, set()), found, threads, mails) for table in wanted}
    return await _with_levels(conn, rows)


async def _with_levels(conn: Connection, tables: dict[str, list[TableRow]]) -> dict[str, list[TableRow]]:
    """Each row of a mail or a thread with how far its sender is believed: not all in somebody's name is theirs."""
    every = [row for rows in tables.values() for row in rows]
    levels: dict[str, str] = {}
    for column, statement in (("thread_id", EXPORT.thread_levels), ("mail_id", EXPORT.mail_levels)):
        ids = list({UUID(row[column]) for row in every if row.get(column)})
        levels |= {str(row["id"]): row["level"] for row in await fetch_all(conn, statement, {"ids": ids})}
    return {table: [_with_level(row, levels) for row in rows] for table, rows in tables.items()}


def _with_level(row: TableRow, levels: Mapping[str, str]) -> TableRow:
    level = levels.get(row.get("mail_id") or "") or levels.get(row.get("thread_id") or "")
    return {**row, "sender_level": level} if level else row


async def _rows(
    conn: Connection, table: str, columns: set[str], found: Survey, threads: list[UUID], mails: list[UUID]
) -> list[TableRow]:
    if "participant_id" in columns:
        column, ids = "participant_id", list(found.people)
    elif "thread_id" in columns:
        column, ids = "thread_id", threads
    else:
        return []
    statement = EXPORT.rows_with_mails if "mail_id" in columns else EXPORT.rows
    query = sql.SQL(statement).format(table=sql.Identifier(table), column=sql.Identifier(column))
    args = {"ids": ids, "mails": mails, "workspace": found.workspace}
    return [row["row"] for row in await fetch_all(conn, query, args)]


def _add_tables(tables: dict[str, list[TableRow]], add: Add) -> int:
    filled = {name: rows for name, rows in tables.items() if rows}
    for name, rows in filled.items():
        add(f"person/{name}.json", _json(rows))
    return len(filled)


def _events(rows: list[EventRow], add: Add) -> int:
    told = ({"id": row.id, "type": row.type, "time": row.time, "data": row.data} for row in rows)
    lines = (json.dumps(one, ensure_ascii=False, default=str) for one in told)
    add("events.jsonl", "".join(f"{line}\n" for line in lines).encode())
    return len(rows)


async def _mails(app: App, rows: list[EventRow], add: Add, folder: str, kind: str, id: str) -> int:
    count = 0
    for row in rows:
        if row.type == kind:
            add(f"{folder}/{row.data[id]}.json", _json(row.data))
            try:
                add(f"{folder}/{row.data[id]}.eml", await app.blobs.get(row.data["blob"]))
            except (BlobMissing, Erased):
                continue
            count += 1
    return count


def _json(value: Any) -> bytes:
    return (json.dumps(value, ensure_ascii=False, indent=2, default=str) + "\n").encode()


# Where an export goes: a folder, or a zip in memory. Each is a function that takes a file's name and its bytes.
Add = Callable[[str, bytes], None]


class FolderNotEmpty(Permanent):
    """The folder holds something already."""


class TooMuch(Permanent):
    """More is held than fits into one answer."""


def new_folder(to: Path) -> Add:
    """Files below a folder that is empty, or not there yet. Raises `FolderNotEmpty`."""
    if to.exists() and any(to.iterdir()):
        raise FolderNotEmpty(f"{to} is not empty; name a new folder")
    to.mkdir(parents=True, exist_ok=True)

    def add(name: str, content: bytes) -> None:
        path = to / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)

    return add


class Zipped:
    """A zip of files, of at most so many bytes unpacked. It is in memory alone: what somebody wrote touches no disk."""

    def __init__(self, most_bytes: int) -> None:
        self._left, self._buffer = most_bytes, BytesIO()
        self._zip = ZipFile(self._buffer, "w", ZIP_DEFLATED)

    def add(self, name: str, content: bytes) -> None:
        """One file. Raises `TooMuch`."""
        self._left -= len(content)
        if self._left < 0:
            raise TooMuch("more is held than fits into a download; `correspondent export` writes it into a folder")
        self._zip.writestr(name, content)

    def content(self) -> bytes:
        """The zip, which takes no more files."""
        self._zip.close()
        return self._buffer.getvalue()
