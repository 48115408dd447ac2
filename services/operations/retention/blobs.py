"""Removes raw mails, attachments and sent MIME from the blob store.

Only what is about somebody has a blob of its own (its name holds the key's id), so no other mail and no document can
need the same one. Blobs go first and are noted then: cut short, the next round removes them again.
"""

from __future__ import annotations

from typing import LiteralString
from uuid import UUID

from services.core.db import fetch_all
from services.operations.retention.ask import FIRST, SQL
from services.operations.retention.rounds import BATCH, Clearing

KINDS: tuple[tuple[str, LiteralString], ...] = (("mail", SQL.due_mail_blobs), ("reply", SQL.due_reply_blobs))


async def due(clearing: Clearing) -> int:
    """How many mails and replies have blobs that are too old."""
    count = 0
    for _, query in KINDS:
        after: UUID | None = FIRST
        while after:
            async with clearing.app.database.reading() as conn:
                rows = await fetch_all(conn, query, _args(clearing, after))
            after = rows[-1]["id"] if rows else None
            count += sum(row["rests"] for row in rows)
    return count


async def remove(clearing: Clearing) -> int:
    """Remove them; of how many mails and replies."""
    count = 0
    for kind, query in KINDS:
        after: UUID | None = FIRST
        while after and not clearing.stop.is_set():
            after, gone = await _batch(clearing, kind, query, after)
            count += gone
    return count


async def _batch(clearing: Clearing, kind: str, query: LiteralString, after: UUID) -> tuple[UUID | None, int]:
    """Remove those of the next ones that nobody needs; where to go on, and how many went."""
    async with clearing.alone() as conn:
        rows = await fetch_all(conn, query, _args(clearing, after))
        going = [row for row in rows if row["rests"]]
        for name in (name for row in going for name in row["blobs"] if name):
            await clearing.app.blobs.delete(name)
        noted = {"workspace": clearing.workspace, "kind": kind, "at": clearing.app.now()}
        await conn.execute(SQL.note_removed, {**noted, "owners": [row["id"] for row in going]})
    return (rows[-1]["id"] if rows else None), len(going)


def _args(clearing: Clearing, after: UUID) -> dict[str, object]:
    before = clearing.before(clearing.settings.retention.blobs_days)
    return {"workspace": clearing.workspace, "before": before, "after": after, "limit": BATCH}
