"""Finding passages of the knowledge base: the product's passage search over the chunks of a workspace."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from psycopg.sql import SQL

from services.core.db import Connection, fetch_all, queries
from services.core.memory.embeddings import Vector
from services.core.memory.passages import search_passages

KNOWLEDGE = queries(__file__, "knowledge.sql")


@dataclass(frozen=True, slots=True)
class Passage:
    """A chunk that was found; `score` is comparable within one query only."""

    chunk_id: UUID
    title: str
    heading: str
    text: str
    score: float


async def search_knowledge(
    conn: Connection, *, workspace: str, query_text: str, query_vector: Vector, limit: int = 6
) -> list[Passage]:
    """The passages that answer a query, best first."""
    hits = await search_passages(
        conn,
        scope=SQL(KNOWLEDGE.scope),
        parameters={"workspace": workspace},
        query_text=query_text,
        query_vector=query_vector,
        limit=limit,
    )
    found = await fetch_all(conn, KNOWLEDGE.chunks_by_id, {"ids": [hit.id for hit in hits]})
    rows = {row["chunk_id"]: row for row in found}
    return [Passage(**rows[hit.id], score=hit.score) for hit in hits if hit.id in rows]
