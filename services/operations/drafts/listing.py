"""The drafts that wait for a person."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from services.core.db import Connection, fetch_all, fetch_one, queries
from services.core.ids import text_sha256
from services.core.keys import is_sealed
from services.core.paging import MOST, Listing, Page
from services.memory.knowledge import chunk_ids
from services.operations.knowledge.listing import SourceLine, passages_of

SQL = queries(__file__)
DRAFTS = Listing("drafts", (("created_at", "time"), ("reply_id", "id")))


@dataclass(frozen=True, slots=True)
class HeldDraft:
    """A draft that waits. `text_sha256` and `thread_version` are what a person's word on it is bound to,
    `shown` is the whole text as it would leave, `sources` what it rests on. A draft whose `level` is `human_only`
    leaves in a person's own words alone. `score` has its parts and the `floors` that it breaks; `unsupported` is what
    the text claims and its context does not say.
    """

    reply_id: UUID
    thread_id: UUID
    created_at: datetime
    reason: str
    text: str
    shown: str
    cc: list[str]
    file_names: list[str]
    text_sha256: str
    thread_version: int
    subject: str
    recipient: str
    sender_level: str = ""
    level: str = "review"
    intent: str = ""
    score: dict[str, Any] | None = None
    unsupported: list[str] = field(default_factory=list)
    sources: list[SourceLine] = field(default_factory=list)


async def waiting_drafts(conn: Connection, workspace: str, *, limit: int = MOST, after: str = "") -> Page[HeldDraft]:
    """The drafts that wait, the oldest first. Raises `BadCursor`."""
    return await _drafts(conn, workspace, None, limit, after)


async def held_draft(conn: Connection, workspace: str, reply_id: UUID) -> HeldDraft | None:
    """One draft, if it waits."""
    found = await _drafts(conn, workspace, reply_id, 1)
    return found[0] if found else None


async def _drafts(
    conn: Connection, workspace: str, reply_id: UUID | None, limit: int, after: str = ""
) -> Page[HeldDraft]:
    args = {"workspace": workspace, "reply_id": reply_id} | DRAFTS.args(after, limit)
    page = DRAFTS.page([_held(row) for row in await fetch_all(conn, SQL.waiting, args)], limit)
    sources = await passages_of(conn, workspace, await _citations(conn, page))
    return Page([replace(one, sources=sources.get(one.reply_id, [])) for one in page], page.next)


async def _citations(conn: Connection, held: Sequence[HeldDraft]) -> dict[UUID, list[UUID]]:
    """The passages that drafts cite; a document knows of a reply that rests on it only once that has left."""
    rows = await fetch_all(conn, SQL.drafted, {"threads": [str(one.thread_id) for one in held]})
    drafted = [row["data"] for row in rows if not is_sealed(row["data"])]
    return {UUID(one["reply_id"]): chunk_ids(one.get("citations", ())) for one in drafted}


def _held(row: dict[str, Any]) -> HeldDraft:
    text = row["data"]["text"]
    also = {name: list(row["data"].get(name, ())) for name in ("cc", "file_names", "unsupported")}
    also |= {"level": row["data"].get("band", "review"), "intent": row["data"].get("intent", "")}
    also |= {"score": row["data"].get("score")}
    seen: dict[str, Any] = {"shown": row["data"].get("shown") or text, **also}
    told = {name: one for name, one in row.items() if name not in ("data", "sealed")}
    return HeldDraft(**told, **seen, text=text, text_sha256=text_sha256(text))


@dataclass(frozen=True, slots=True)
class PastDraft:
    """A draft that may wait no more: what became of it, the text that a person saw, where it may still be read."""

    reply_id: UUID
    thread_id: UUID
    state: str
    detail: str
    shown: str
    outcome: str


async def past_draft(conn: Connection, workspace: str, reply_id: UUID) -> PastDraft | None:
    """A reply that was once held for a person, whatever became of it."""
    row = await fetch_one(conn, SQL.past, {"workspace": workspace, "reply_id": reply_id})
    if row is None:
        return None
    held = row["data"] or {}
    told = {name: one for name, one in row.items() if name not in ("data", "sealed")}
    return PastDraft(**told, shown="" if is_sealed(held) else str(held.get("shown") or held.get("text", "")))
