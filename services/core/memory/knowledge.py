"""Finding passages of the knowledge base: the same hybrid search as for facts, over chunks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from psycopg.sql import SQL

from services.core.db import Connection, fetch_all, queries
from services.core.memory.embeddings import Vector
from services.core.memory.search import SearchSettings, search_scope

KNOWLEDGE = queries(__file__, "knowledge.sql")


@dataclass(frozen=True, slots=True)
class Passage:
    """A chunk that was found; `relevance` is 0..1, fused of words and meaning."""

    chunk_id: UUID
    title: str
    heading: str
    text: str
    relevance: float


async def search_knowledge(
    conn: Connection, *, workspace: str, query_text: str, query_vector: Vector, limit: int = 6
) -> list[Passage]:
    """The passages that answer a query, best first."""
    scope = SQL(KNOWLEDGE.scope)
    found, _ = await search_scope(conn, scope, {"workspace": workspace}, query_text, query_vector, SearchSettings())
    best = found[:limit]
    rows = {row["chunk_id"]: row for row in await _by_id(conn, [one.id for one in best])}
    return [
        Passage(one.id, rows[one.id]["title"], rows[one.id]["heading"], rows[one.id]["text"], one.relevance)
        for one in best
        if one.id in rows
    ]


async def _by_id(conn: Connection, ids: Sequence[UUID]) -> list[dict[str, Any]]:
    return await fetch_all(conn, KNOWLEDGE.chunks_by_id, {"ids": list(ids)})
