"""Cuts a submitted document into passages, and gives them their vectors."""

from __future__ import annotations

from uuid import uuid5

from schemas.events.base import EventData
from schemas.events.memory import DocumentChunk, DocumentIndexed, DocumentRefused, DocumentSubmitted
from services.core.bus.processor import Handlers
from services.core.bus.work import Work
from services.core.memory.embedding_cache import embed_cached
from services.core.memory.embeddings import vector_literal
from services.learn_documents.apply import SQL
from services.learn_documents.chunks import chunk, title_of

READABLE = ("text/markdown", "text/plain")


async def on_submitted(work: Work[DocumentSubmitted]) -> None:
    """Index the document unless this very content stands already."""
    event = work.event
    content = await work.house.blobs.get(event.blob)
    decided = _read(event, content)
    async with work.unit() as unit:
        await unit.lock("document", event.document_id)
        row = await unit.one(SQL.document, document_id=event.document_id)
        if row is None or row["blob"] != event.blob:
            await unit.record(decided)


async def on_indexed(work: Work[DocumentIndexed]) -> None:
    """Give the new passages their vectors; losing them loses time, never knowledge."""
    chunks = work.event.chunks
    async with work.house.database.reading() as conn:
        texts = [f"{one.heading}\n{one.text}" for one in chunks]
        vectors = await embed_cached(conn, work.house.embedder, texts)
        for one, vector in zip(chunks, vectors, strict=True):
            args = {"chunk_id": one.chunk_id, "vector": vector_literal(vector)}
            await conn.execute(SQL.attach_vector, args)


def _read(event: DocumentSubmitted, content: bytes) -> EventData:
    reason = _unreadable(event, content)
    if reason:
        return DocumentRefused(document_id=event.document_id, title=event.title, origin=event.origin, reason=reason)
    text = content.decode("utf-8")
    chunks = tuple(
        DocumentChunk(chunk_id=uuid5(event.document_id, f"{event.blob}/{i}"), heading=one.heading, text=one.text)
        for i, one in enumerate(chunk(text))
    )
    title = title_of(text, event.title)
    return DocumentIndexed(
        document_id=event.document_id, title=title, origin=event.origin, blob=event.blob, chunks=chunks
    )


def _unreadable(event: DocumentSubmitted, content: bytes) -> str:
    if event.media_type not in READABLE:
        return f"{event.media_type} cannot be read yet; hand in Markdown or plain text"
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        return f"not UTF-8: {error}"
    return "" if text.strip() else "the document is empty"


HANDLERS: Handlers = {DocumentSubmitted: on_submitted, DocumentIndexed: on_indexed}
