"""Archived events that a replay needs: of the thread or person that is asked for, else all."""

from __future__ import annotations

from schemas.events.mail import MailReceived
from services.core.archive.archive import Archive
from services.core.archive.history import manifests
from services.core.bus.event_store import EventRow
from services.core.db import Connection, fetch_one
from services.operations.archive.thaw import thaw
from services.operations.replay.selection import Selection
from services.operations.replay.steps import SQL, keys_concerned


async def see_archived(conn: Connection, archive: Archive, workspace: str, wanted: Selection) -> None:
    """Let the session see the archived events that the cases of a selection may need."""
    said = await manifests(conn)
    if not said:
        return
    keys = await _keys(conn, wanted)

    def needed(row: EventRow) -> bool:
        mine = row["key"] in keys or row["aggregate"] == "document" or row["type"] == MailReceived.TYPE
        return row["workspace"] == workspace and (mine or not keys)

    await thaw(conn, archive, said, needed)


async def _keys(conn: Connection, wanted: Selection) -> frozenset[str]:
    """The keys of what the cases are about; none where that cannot be said beforehand."""
    thread = str(wanted.thread) if wanted.thread else None
    participant = wanted.participant
    if wanted.event and not thread:
        event = await fetch_one(conn, SQL.event, {"id": wanted.event})
        thread = event["data"].get("thread_id") if event else None
    if not (thread or participant):
        return frozenset()
    return frozenset(await keys_concerned(conn, thread, participant))
