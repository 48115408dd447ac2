"""Gives facts and passages that a fold has made their vectors, which are a cache and no part of any event."""

from __future__ import annotations

from collections.abc import AsyncIterator

from schemas.events.documents import DocumentContinued, DocumentIndexed
from services.core.bus.envelope import Envelope
from services.core.bus.work import Work
from services.core.db import Connection
from services.core.house import House
from services.core.memory.embedding_cache import embed_facts
from services.learn_documents.handler import on_indexed


async def give_vectors(house: House, conn: Connection, workspace: str, events: AsyncIterator[Envelope]) -> None:
    """Every fact of a workspace, and the passages of the documents among `events`."""
    while await embed_facts(conn, house.embedder, workspace):
        pass
    async for envelope in events:
        if isinstance(envelope.data, DocumentIndexed | DocumentContinued):
            await on_indexed(Work(envelope.data, envelope, "learn_documents", house, {}))
