"""Reads what is handed in, decides under the document's lock, and gives new passages their vectors."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Iterable
from uuid import UUID

from pgvector import HalfVector

from schemas.events import documents as ev
from schemas.events.replies import ReplySent
from schemas.events.threads import ReplyAttached
from services.core.bus.processor import Handlers
from services.core.bus.unit import Unit
from services.core.bus.work import Work
from services.core.db import row_as
from services.learn_documents import articles, decide
from services.learn_documents.apply import SQL
from services.learn_documents.conversion import read
from services.memory.embedding_cache import vectors_of_texts
from services.memory.knowledge import chunk_ids


async def on_submitted(work: Work[ev.DocumentSubmitted]) -> None:
    """Index the document unless this very content stands already."""
    event = work.event
    content = await work.app.blobs.get(event.blob)
    reading = await asyncio.to_thread(read, content, event.media_type, event.origin)
    async with work.unit() as unit:
        await unit.lock("document", event.document_id)
        known = await _document(unit, event.document_id)
        version = await unit.version("document", event.document_id)
        await _record(unit, decide.submitted(event, known, reading, version))


async def on_removal(work: Work[ev.DocumentRemovalRequested]) -> None:
    """Take the document out of what is found."""
    async with work.unit() as unit:
        await unit.lock("document", work.event.document_id)
        known = await _document(unit, work.event.document_id)
        await _record(unit, decide.removal(work.event, known))


async def on_indexed(work: Work[ev.DocumentIndexed | ev.DocumentContinued]) -> None:
    """Give the new passages their vectors; losing them loses time, never knowledge."""
    chunks = work.event.chunks
    texts = [f"{one.heading}\n{one.text}" for one in chunks]
    vectors = await vectors_of_texts(work.app.database, work.app.embedder, texts)
    async with work.app.database.reading() as conn:
        for one, vector in zip(chunks, vectors, strict=True):
            given = {"chunk_id": one.chunk_id, "vector": HalfVector(vector), "model": work.app.embedder.name}
            await conn.execute(SQL.attach_vector, given)


async def on_sent(work: Work[ReplySent]) -> None:
    """Note with each document that a reply, which has left, rests on it."""
    reply = work.event
    if not reply.citations:
        return
    cited: dict[UUID, list[UUID]] = defaultdict(list)
    async with work.unit() as unit:
        for row in await unit.all(SQL.documents_of_chunks, chunk_ids=chunk_ids(reply.citations)):
            cited[row["document_id"]].append(row["chunk_id"])
        for document_id, found in cited.items():
            noted = ev.DocumentCited(
                document_id=document_id,
                chunk_ids=tuple(found),
                reply_id=reply.reply_id,
                thread_id=reply.thread_id,
            )
            await unit.record(noted)


async def _document(unit: Unit, document_id: UUID) -> decide.Document | None:
    return await row_as(unit.conn, decide.Document, SQL.document, {"document_id": document_id})


async def _record(unit: Unit, events: Iterable[ev.DocumentEvent]) -> None:
    for event in events:
        await unit.record(event)


HANDLERS: Handlers = {
    ev.DocumentSubmitted: on_submitted,
    ev.DocumentRemovalRequested: on_removal,
    ev.DocumentIndexed: on_indexed,
    ev.DocumentContinued: on_indexed,
    ev.ArticleRequested: articles.on_requested,
    ev.ProposalDecided: articles.on_decided,
    ReplySent: on_sent,
    ReplyAttached: articles.on_reply_attached,
}
