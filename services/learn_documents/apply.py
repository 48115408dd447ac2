"""Folds `document.indexed` into documents and chunks. Vectors are a cache and not part of it."""

from __future__ import annotations

from schemas.events.memory import DocumentIndexed
from services.core.bus.envelope import Envelope
from services.core.bus.unit import Appliers
from services.core.db import Connection, queries

SQL = queries(__file__)


async def _indexed(conn: Connection, envelope: Envelope) -> None:
    document = envelope.data
    assert isinstance(document, DocumentIndexed)
    stamp = {"workspace": envelope.workspace, "version": envelope.version, "at": envelope.time}
    await conn.execute(SQL.upsert_document, {**document.model_dump(exclude={"chunks"}), **stamp})
    await conn.execute(SQL.drop_chunks, {"document_id": document.document_id})
    for position, one in enumerate(document.chunks):
        args = {**one.model_dump(), **stamp, "document_id": document.document_id, "position": position}
        await conn.execute(SQL.insert_chunk, args)


APPLIERS: Appliers = {DocumentIndexed: _indexed}
