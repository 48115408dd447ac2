"""What stands in the knowledge base: documents, their editions and passages, where they were cited, proposals."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeVar
from uuid import UUID

from services.core.app import App
from services.core.db import Connection, fetch_one, rows_as
from services.core.paging import MOST, Listing, Page
from services.memory.knowledge import Passage, search_knowledge
from services.operations.knowledge.requests import SQL

T = TypeVar("T")
DOCUMENTS = Listing("documents", (("title", "text"), ("document_id", "id")))
UNREAD = Listing("unread", (("document_id", "id"),))
PROPOSALS = Listing("articles", (("proposed_at", "time"), ("document_id", "id")))


@dataclass(frozen=True, slots=True)
class Document:
    """A document as it stands: `chunks` of its current edition, `cited` in so many replies."""

    document_id: UUID
    space: str
    title: str
    origin: str
    media_type: str
    edition: int
    public_url: str
    note: str
    indexed_at: datetime
    removed_at: datetime | None
    chunks: int
    cited: int
    last_cited_at: datetime | None


@dataclass(frozen=True, slots=True)
class ChunkLine:
    """A passage of an edition, and in how many replies it is cited."""

    chunk_id: UUID
    edition: int
    position: int
    heading: str
    text: str
    added_at: datetime
    retired_at: datetime | None
    cited: int


@dataclass(frozen=True, slots=True)
class Decision:
    """One line of a document's log."""

    version: int
    at: datetime
    decision: str
    detail: str
    by: str


@dataclass(frozen=True, slots=True)
class CitedIn:
    """A reply that rests on a passage of a document."""

    at: datetime
    thread_id: UUID
    reply_id: UUID
    chunk_id: UUID
    edition: int
    heading: str


@dataclass(frozen=True, slots=True)
class Shown:
    """A document with everything that is known of it."""

    document: Document
    chunks: tuple[ChunkLine, ...]
    log: tuple[Decision, ...]
    cited_in: tuple[CitedIn, ...]


@dataclass(frozen=True, slots=True)
class Unread:
    """What was handed in and could not be read."""

    document_id: UUID
    title: str
    origin: str
    reason: str
    at: datetime


@dataclass(frozen=True, slots=True)
class SourceLine:
    """A passage that a reply rests on; `quote` is its beginning."""

    reply_id: UUID
    title: str
    heading: str
    edition: int
    public_url: str
    chunk_id: UUID
    quote: str = ""


@dataclass(frozen=True, slots=True)
class Proposal:
    """An article that was proposed, as it stands: `proposed`, `accepted` or `rejected`."""

    document_id: UUID
    title: str
    text: str
    thread_id: UUID
    reply_id: UUID
    source: str
    masked: int
    state: str
    proposed_at: datetime
    decided_at: datetime | None


async def list_documents(app: App, *, removed: bool = False, limit: int = MOST, after: str = "") -> Page[Document]:
    """The documents of the workspace, by title. Raises `BadCursor`."""
    args = DOCUMENTS.args(after, limit)
    rows = await _bound(app, Document, SQL.documents, removed=removed, document_id=None, **args)
    return DOCUMENTS.page(rows, limit)


async def list_unread(app: App, *, limit: int = MOST, after: str = "") -> Page[Unread]:
    """What could not be read, and why. Raises `BadCursor`."""
    return UNREAD.page(await _bound(app, Unread, SQL.unread, **UNREAD.args(after, limit)), limit)


async def show_document(app: App, document_id: UUID, *, past: bool = False, limit: int = 20) -> Shown | None:
    """A document, its passages (with `past` those of older editions too), its log, and where it was cited."""
    only = DOCUMENTS.args("", 1)
    found = await _bound(app, Document, SQL.documents, removed=True, document_id=document_id, **only)
    if not found:
        return None
    chunks = await _bound(app, ChunkLine, SQL.passages, document_id=document_id, past=past)
    log = await _bound(app, Decision, SQL.log, document_id=document_id)
    cited_in = await _bound(app, CitedIn, SQL.cited_in, document_id=document_id, limit=limit)
    return Shown(found[0], tuple(chunks), tuple(log), tuple(cited_in))


async def find_passages(
    app: App, text: str, *, limit: int, space: str | None = None, as_of: datetime | None = None
) -> list[Passage]:
    """The passages that the agent would find in a space; without one those of every space."""
    workspace = app.settings.workspace
    from services.memory.embeddings import meanings

    (meaning,) = await meanings(app.embedder, [text])
    async with app.database.transaction(workspace) as conn:
        return await search_knowledge(
            conn, workspace=workspace, space=space, query_text=text, meaning=meaning, limit=limit, as_of=as_of
        )


async def sources_of(conn: Connection, workspace: str, reply_ids: Sequence[UUID]) -> dict[UUID, list[SourceLine]]:
    """What replies that left rest on, by reply."""
    args = {"workspace": workspace, "reply_ids": list(reply_ids)}
    return _by_reply(await rows_as(conn, SourceLine, SQL.sources_of_replies, args))


async def passages_of(
    conn: Connection, workspace: str, cited: Mapping[UUID, Sequence[UUID]]
) -> dict[UUID, list[SourceLine]]:
    """The passages that drafts cite, by reply."""
    pairs = [(reply_id, chunk_id) for reply_id, chunks in cited.items() for chunk_id in chunks]
    args = {"reply_ids": [one for one, _ in pairs], "chunk_ids": [one for _, one in pairs], "workspace": workspace}
    return _by_reply(await rows_as(conn, SourceLine, SQL.passages_of_drafts, args))


def _by_reply(lines: Iterable[SourceLine]) -> dict[UUID, list[SourceLine]]:
    found: dict[UUID, list[SourceLine]] = defaultdict(list)
    for one in lines:
        found[one.reply_id].append(one)
    return found


async def list_proposals(app: App, state: str = "proposed", *, limit: int = MOST, after: str = "") -> Page[Proposal]:
    """Proposed articles in a state ("" for all), the oldest first. Raises `BadCursor`."""
    args = PROPOSALS.args(after, limit)
    return PROPOSALS.page(await _bound(app, Proposal, SQL.proposals, state=state, document_id=None, **args), limit)


async def last_answer(app: App, thread_id: UUID) -> UUID | None:
    """The latest mail of ours, or of a colleague, in a thread."""
    workspace = app.settings.workspace
    async with app.database.transaction(workspace) as conn:
        row = await fetch_one(conn, SQL.last_answer, {"workspace": workspace, "thread_id": thread_id})
    return row["reply_id"] if row else None


async def proposal(app: App, document_id: UUID) -> Proposal | None:
    """One proposed article."""
    found = await _bound(app, Proposal, SQL.proposals, state="", document_id=document_id, **PROPOSALS.args("", 1))
    return found[0] if found else None


async def _bound(app: App, kind: type[T], query: Any, **args: Any) -> list[T]:
    workspace = app.settings.workspace
    async with app.database.transaction(workspace) as conn:
        return await rows_as(conn, kind, query, {"workspace": workspace, **args})
