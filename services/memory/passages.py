"""Finding passages (turns, mails, chunks of documents) in any SELECT that names their columns.

    scope = SQL("SELECT chunk_id AS id, document_id AS stream, position, '' AS speaker, text, tsv, embedding, at"
                " FROM chunks ... WHERE workspace = %(workspace)s")
    await search_passages(conn, scope=scope, parameters={"workspace": "w"}, query_text=..., query_vector=...)

The benchmark on LoCoMo runs through this function and nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from uuid import UUID

import numpy as np
from pgvector import HalfVector
from psycopg.sql import SQL, Composed

from services.core.db import Connection, queries, rows_as
from services.memory.cue import Cue, CueSettings, Evidence, judged, passage_evidence
from services.memory.embeddings import Vector
from services.memory.periods import Window
from services.memory.signals import Passage, SignalWeights, signal_matrix, spread, weighed

PASSAGES = queries(__file__, "passages.sql")


@dataclass(frozen=True, slots=True)
class PassageSettings:
    """`candidates` per list nominate streams, whose passages are then all weighed; `spread`: see `signals.spread`."""

    candidates: int = 300
    spread: float = 0.0
    weights: SignalWeights = field(default_factory=SignalWeights)
    cue: CueSettings = field(default_factory=CueSettings)


@dataclass(frozen=True, slots=True)
class PassageHit:
    """A passage that was found; scores are comparable within one query only."""

    id: UUID
    score: float
    similarity: float | None
    lexical: float


@dataclass(frozen=True, slots=True)
class PassageRecall:
    """The best passages, best first, and whether they answer at all."""

    hits: list[PassageHit]
    cue: Cue


async def search_passages(
    conn: Connection,
    *,
    scope: SQL | Composed,
    parameters: Mapping[str, object],
    query_text: str,
    query_vector: Vector,
    limit: int,
    window: Window | None = None,
    settings: PassageSettings | None = None,
) -> list[PassageHit]:
    """The best `limit` passages of a scope, best first.

    `scope` is a SELECT of (id uuid, stream uuid, position int, speaker text, text text, tsv tsvector,
    embedding halfvec, at timestamptz): a vector of the model that made the query's, or NULL, and when it was said, or
    NULL; neighbours have adjacent positions in one stream. `window` is the time that the query speaks of. The scope is
    searched exactly, so it should name thousands of rows, not millions.
    """
    recall = await recall_passages(
        conn,
        scope=scope,
        parameters=parameters,
        query_text=query_text,
        query_vector=query_vector,
        limit=limit,
        window=window,
        settings=settings,
    )
    return recall.hits


async def recall_passages(
    conn: Connection,
    *,
    scope: SQL | Composed,
    parameters: Mapping[str, object],
    query_text: str,
    query_vector: Vector,
    limit: int,
    window: Window | None = None,
    own_words: Vector | None = None,
    settings: PassageSettings | None = None,
) -> PassageRecall:
    """What `search_passages` finds, with the judgement whether it answers the query.

    `own_words` is the query's vector in the words of whom it names (`voice`): by it passages are ranked. The
    query's own vector, which tells whom it is about, judges them.
    """
    settings = settings or PassageSettings()
    passages = await scored_passages(conn, scope, parameters, query_text, query_vector, settings.candidates, own_words)
    if not passages:
        return PassageRecall([], judged(Evidence(0.0, 0.0), settings.cue))
    matrix = signal_matrix(passages, query_text, window)
    scores = spread(weighed(matrix, settings.weights), passages, settings.spread)
    order = np.argsort(-scores, kind="stable")
    evidence = passage_evidence(passages, matrix, query_text, settings.weights, order)
    return PassageRecall([_hit(passages[i], float(scores[i])) for i in order[:limit]], judged(evidence, settings.cue))


async def scored_passages(
    conn: Connection,
    scope: SQL | Composed,
    parameters: Mapping[str, object],
    query_text: str,
    query_vector: Vector,
    candidates: int,
    own_words: Vector | None = None,
) -> list[Passage]:
    """The passages of the most promising streams with their scores for this query, unweighed."""
    values = {
        **parameters,
        "text": query_text,
        "vector": HalfVector(query_vector),
        "own_words": None if own_words is None else HalfVector(own_words),
        "candidates": candidates,
    }
    return await rows_as(conn, Passage, SQL(PASSAGES.scored).format(scope=scope), values)


def _hit(passage: Passage, score: float) -> PassageHit:
    return PassageHit(passage.id, score, passage.similarity, passage.lexical)
