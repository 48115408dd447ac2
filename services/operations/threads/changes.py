"""What a page is told while it is open: what changed since an event, as keys and versions alone, and who is writing."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Literal
from uuid import UUID

from services.core.app import App
from services.core.db import Connection, queries, rows_as

SQL = queries(__file__, "changes.sql")
WINDOW = 200  # numbers that are read again: transactions commit out of order
MOST = 1000


@dataclass(frozen=True, slots=True)
class Change:
    """An event of a thread, a person or a person's investigations: its number and key, the aggregate's version or 0."""

    seq: int
    kind: Literal["thread", "person", "investigation"]
    key: str
    version: int


async def changes_since(conn: Connection, workspace: str, seq: int) -> list[Change]:
    """The events after a number, the oldest first, at most so many at once."""
    args = {"workspace": workspace, "seq": seq, "limit": MOST}
    return await rows_as(conn, Change, SQL.changes, args)


# Who is writing in a thread right now. It is told to colleagues, and stops nobody: a reply is bound to what was seen.
#
# Kept in the cache for some seconds. Of two who begin in the same moment one may be missing until they say it again.
LASTS_S = 30


async def writing(app: App, thread_id: UUID) -> list[str]:
    """The names of those who write; nobody where the cache is away."""
    now = app.now().timestamp()
    return sorted(name for name, at in (await _noted(app, thread_id)).items() if now - at < LASTS_S)


async def note_writing(app: App, thread_id: UUID, name: str) -> None:
    """Say that somebody writes; it holds for `LASTS_S`."""
    now = app.now().timestamp()
    noted = {other: at for other, at in (await _noted(app, thread_id)).items() if now - at < LASTS_S}
    await app.cache.put(_key(app, thread_id), json.dumps(noted | {name: now}), seconds=LASTS_S)


async def _noted(app: App, thread_id: UUID) -> dict[str, float]:
    kept = await app.cache.get(_key(app, thread_id))
    return dict(json.loads(kept)) if kept else {}


def _key(app: App, thread_id: UUID) -> str:
    return f"writing:{app.settings.workspace}:{thread_id}"
