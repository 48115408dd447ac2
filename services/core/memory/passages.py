"""Finding passages (turns, mails, chunks of documents) in any SELECT that names their columns.

    scope = SQL("SELECT chunk_id AS id, document_id AS stream, position, '' AS speaker, text, tsv, ..."
                " FROM chunks ... WHERE workspace = %(workspace)s")
    await search_passages(conn, scope=scope, parameters={"workspace": "w"}, query_text=..., query_vector=...)

The benchmark on LoCoMo runs through this function and nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from uuid import UUID

import numpy as np
from psycopg.rows import class_row
from psycopg.sql import SQL, Composed

from services.core.db.pool import Connection
from services.core.db.sql import queries
from services.core.memory.embeddings import Vector, vector_literal
from services.core.memory.signals import Passage, SignalWeights, signal_matrix, weighed

PASSAGES = queries(__file__, "passages.sql")


@dataclass(frozen=True, slots=True)
class PassageSettings:
    """`candidates` per list nominate streams, whose passages are then all weighed."""

    candidates: int = 300
    weights: SignalWeights = field(default_factory=SignalWeights)


@dataclass(frozen=True, slots=True)
class PassageHit:
    """A passage that was found; scores are comparable within one query only."""

    id: UUID
    score: float
    similarity: float | None
    lexical: float


async def search_passages(
    conn: Connection,
    *,
    scope: SQL | Composed,
    parameters: Mapping[str, object],
    query_text: str,
    query_vector: Vector,
    limit: int,
    settings: PassageSettings | None = None,
) -> list[PassageHit]:
    """The best `limit` passages of a scope, best first.

    `scope` is a SELECT of (id uuid, stream uuid, position int, speaker text, text text, tsv tsvector,
    embedding vector or halfvec); neighbours have adjacent positions in one stream.
    """
    settings = settings or PassageSettings()
    passages = await scored_passages(conn, scope, parameters, query_text, query_vector, settings.candidates)
    if not passages:
        return []
    scores = weighed(signal_matrix(passages, query_text), settings.weights)
    best = np.argsort(-scores, kind="stable")[:limit]
    return [_hit(passages[i], float(scores[i])) for i in best]


async def scored_passages(
    conn: Connection,
    scope: SQL | Composed,
    parameters: Mapping[str, object],
    query_text: str,
    query_vector: Vector,
    candidates: int,
) -> list[Passage]:
    """The passages of the most promising streams with their scores for this query, unweighed."""
    values = {
        **parameters,
        "text": query_text,
        "vector": vector_literal(query_vector),
        "dimensions": len(query_vector),
        "candidates": candidates,
    }
    async with conn.cursor(row_factory=class_row(Passage)) as cursor:
        return await (await cursor.execute(SQL(PASSAGES.scored).format(scope=scope), values)).fetchall()


def _hit(passage: Passage, score: float) -> PassageHit:
    return PassageHit(passage.id, score, passage.similarity, passage.lexical)
