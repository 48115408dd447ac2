"""Applies document events to the tables of the knowledge base. Vectors are a cache and not part of it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from schemas.events import documents as ev
from services.core.bus.envelope import Envelope
from services.core.bus.unit import Appliers
from services.core.db import Connection, queries

SQL = queries(__file__)


def _args(envelope: Envelope) -> dict[str, Any]:
    return {
        **envelope.data.model_dump(exclude={"chunks"}),
        "workspace": envelope.workspace,
        "version": envelope.version,
        "at": envelope.time,
        "cause": envelope.causation_id,
    }


async def _log(conn: Connection, args: dict[str, Any], decision: str, detail: str) -> None:
    said = {"title": "", "origin": "", "by": "", **args}
    await conn.execute(SQL.log_decision, {**said, "decision": decision, "detail": detail})


async def _insert_chunks(conn: Connection, args: dict[str, Any], chunks: Iterable[ev.DocumentChunk], at: int) -> None:
    for position, one in enumerate(chunks, start=at):
        await conn.execute(SQL.insert_chunk, {**args, **one.model_dump(), "position": position})


async def _indexed(conn: Connection, envelope: Envelope) -> None:
    document, args = envelope.data, _args(envelope)
    assert isinstance(document, ev.DocumentIndexed)
    await conn.execute(SQL.upsert_document, args)
    await conn.execute(SQL.retire_chunks, args)
    await conn.execute(SQL.decide_proposal, {**args, "state": "accepted"})
    await _log(conn, args, "indexed", document.note)
    await _insert_chunks(conn, args, document.chunks, 0)


async def _continued(conn: Connection, envelope: Envelope) -> None:
    more = envelope.data
    assert isinstance(more, ev.DocumentContinued)
    await _insert_chunks(conn, _args(envelope), more.chunks, more.first_position)


async def _removed(conn: Connection, envelope: Envelope) -> None:
    args = _args(envelope)
    await conn.execute(SQL.remove_document, args)
    await conn.execute(SQL.retire_chunks, args)
    await _log(conn, args, "removed", args["reason"])


async def _refused(conn: Connection, envelope: Envelope) -> None:
    args = _args(envelope)
    await _log(conn, args, "refused", args["reason"])


async def _cited(conn: Connection, envelope: Envelope) -> None:
    args = _args(envelope)
    for chunk_id in args["chunk_ids"]:
        await conn.execute(SQL.insert_citation, {**args, "chunk_id": chunk_id})


async def _proposed(conn: Connection, envelope: Envelope) -> None:
    args = _args(envelope)
    await conn.execute(SQL.insert_proposal, args)
    await _log(conn, args, "proposed", args["source"])


async def _rejected(conn: Connection, envelope: Envelope) -> None:
    args = _args(envelope)
    await conn.execute(SQL.decide_proposal, {**args, "state": "rejected"})
    await _log(conn, args, "rejected", args["reason"])


APPLIERS: Appliers = {
    ev.DocumentIndexed: _indexed,
    ev.DocumentContinued: _continued,
    ev.DocumentRemoved: _removed,
    ev.DocumentRefused: _refused,
    ev.DocumentCited: _cited,
    ev.ArticleProposed: _proposed,
    ev.ArticleRejected: _rejected,
}
