"""The table `inbox_positions`, and `unfetched_mails` next to it: what is kept of a folder between connections."""

from __future__ import annotations

from datetime import datetime

from services.core.db import fetch_all, fetch_one
from services.receive_email.accept import SQL
from services.receive_email.imap.folder import Folder, FolderPlace, Position

FIRST_PAUSE_S = 30.0  # before a mail that the server would not hand over is asked for again
LONGEST_PAUSE_S = 6 * 3600.0


async def load(place: FolderPlace) -> Position | None:
    """Up to where the folder has been read; None before it is first opened."""
    async with place.app.database.reading() as conn:
        row = await fetch_one(conn, SQL.position, place.key)
    return Position(**row) if row else None


async def begin(place: FolderPlace, folder: Folder) -> Position:
    """Start at the newest mail: what is there now is not ours to answer."""
    args = {"uidvalidity": folder.uidvalidity, "last_uid": folder.uidnext - 1, "begun_at": place.app.now()}
    async with place.app.database.reading() as conn:
        await conn.execute(SQL.begin_position, place.key | args)
    position = await load(place)
    assert position is not None
    return position


async def move(place: FolderPlace, position: Position) -> None:
    """Everything up to the position is on the log."""
    args = {"uidvalidity": position.uidvalidity, "last_uid": position.last_uid}
    async with place.app.database.reading() as conn:
        await conn.execute(SQL.move_position, place.key | args)


async def keep_unfetched(place: FolderPlace, uidvalidity: int, uid: int, error: str) -> None:
    """Note that a mail could not be had, once more."""
    args = {"uidvalidity": uidvalidity, "uid": uid, "error": error[:500], "now": place.app.now()}
    async with place.app.database.reading() as conn:
        await conn.execute(SQL.keep_unfetched, place.key | args)


async def unfetched(place: FolderPlace, uidvalidity: int) -> list[tuple[int, datetime]]:
    """The UIDs that are to be tried again, each with when, the next one first. There is no last attempt."""
    async with place.app.database.reading() as conn:
        args = {"uidvalidity": uidvalidity, "first_s": FIRST_PAUSE_S, "longest_s": LONGEST_PAUSE_S}
        return [(row["uid"], row["due_at"]) for row in await fetch_all(conn, SQL.unfetched, place.key | args)]


async def forget_unfetched(place: FolderPlace, uidvalidity: int, uid: int) -> None:
    """The mail came after all, or is gone from the server."""
    async with place.app.database.reading() as conn:
        await conn.execute(SQL.forget_unfetched, place.key | {"uidvalidity": uidvalidity, "uid": uid})
