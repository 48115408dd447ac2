"""Removes raw mails, attachments and sent MIME from the blob store.

Only what is about somebody has a blob of its own (its name holds the key's id), so no other mail and no document can
need the same one. Blobs go first and are noted then: cut short, the next round removes them again.
"""

from __future__ import annotations

from typing import LiteralString
from uuid import UUID

from services.core.db import fetch_all
from services.tools.retention.ask import FIRST, SQL
from services.tools.retention.clearing import BATCH, Clearing

KINDS: tuple[tuple[str, LiteralString], ...] = (("mail", SQL.due_mail_blobs), ("reply", SQL.due_reply_blobs))


async def due(clearing: Clearing) -> int:
    """How many mails and replies have blobs that are too old."""
    count = 0
    for _, query in KINDS:
        after: UUID | None = FIRST
        while after:
            async with clearing.house.database.reading() as conn:
                rows = await fetch_all(conn, query, _args(clearing, after))
            after, count = (rows[-1]["owner"] if rows else None), count + len(rows)
    return count


async def remove(clearing: Clearing) -> int:
    """Remove them; of how many mails and replies."""
    count = 0
    for kind, query in KINDS:
        after: UUID | None = FIRST
        while after and not clearing.stop.is_set():
            async with clearing.alone() as conn:
                rows = await fetch_all(conn, query, _args(clearing, after))
                for name in (name for row in rows for name in row["blobs"] if name):
                    await clearing.house.blobs.delete(name)
                owners = [row["owner"] for row in rows]
                noted = {"owners": owners, "workspace": clearing.workspace, "kind": kind, "at": clearing.house.now()}
                await conn.execute(SQL.note_removed, noted)
            after, count = (owners[-1] if owners else None), count + len(owners)
    return count


def _args(clearing: Clearing, after: UUID) -> dict[str, object]:
    before = clearing.before(clearing.settings.retention.blobs_days)
    return {"workspace": clearing.workspace, "before": before, "after": after, "limit": BATCH}
