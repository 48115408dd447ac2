"""Finding facts by meaning: candidates from Postgres, fused, weighed, best first.

Words and vectors each nominate candidates (300 by default); a convex fusion of both scores says how
relevant one is, and `ranking` weighs in what else is known of it. A small memory (100 entries or fewer)
comes back whole, only ordered. Everything is a function of the rows, the query and the `now` it is given.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

import numpy as np
from psycopg.rows import class_row, dict_row
from psycopg.sql import SQL, Composed

from services.core.db.pool import Connection
from services.core.db.sql import queries
from services.core.memory.embeddings import Vector, vector_literal
from services.core.memory.fusion import convex
from services.core.memory.lexemes import query_lexemes
from services.core.memory.ranking import RankingSettings, Standing, standing_score
from services.core.memory.temporal import Window

SEARCH = queries(__file__, "search.sql")


@dataclass(frozen=True, slots=True)
class SearchSettings:
    """`candidates` per list; `whole_up_to` entries come back whole; `dense_share` of the fused score."""

    candidates: int = 300
    whole_up_to: int = 100
    dense_share: float = 0.5
    ranking: RankingSettings = field(default_factory=RankingSettings)


@dataclass(frozen=True, slots=True)
class Candidate:
    """One nominated row: cosine (None where it has no vector yet), BM25, and both fused to 0..1."""

    id: UUID
    similarity: float | None
    lexical: float
    relevance: float


@dataclass(frozen=True, slots=True)
class Fact:
    """A row of `facts` as readers need it; the columns are documented in the migration."""

    fact_id: UUID
    participant_id: UUID
    kind: str
    key: str
    value: str
    text: str
    confidence: float
    importance: float
    weight: float
    trust: str
    pinned: bool
    valid_from: datetime
    valid_to: datetime | None
    expires_at: datetime | None
    recorded_at: datetime
    superseded_at: datetime | None
    source_message_id: str | None
    quote: str | None


@dataclass(frozen=True, slots=True)
class Hit:
    """A fact that was found, its final score (higher is better) and the parts it came from."""

    fact: Fact
    score: float
    relevance: float
    similarity: float | None
    lexical: float


async def search_facts(
    conn: Connection,
    *,
    workspace: str,
    participant_id: UUID | None,
    query_text: str,
    query_vector: Vector,
    now: datetime,
    as_of: datetime | None = None,
    window: Window | None = None,
    limit: int = 20,
    settings: SearchSettings | None = None,
) -> list[Hit]:
    """The facts that answer a query, best first: at most `limit`, or all of a small memory.

    `query_vector` is L2-normalised. `as_of` (default: now) is the state of knowledge that is asked;
    `window` asks for what was so within it, changed or expired facts included. Without a participant
    the whole workspace is searched.
    """
    settings = settings or SearchSettings()
    moment = as_of or now
    scope, parameters = _fact_scope(workspace, participant_id, moment, window)
    candidates, size = await search_scope(conn, scope, parameters, query_text, query_vector, settings)
    facts = await _facts_by_id(conn, [c.id for c in candidates])
    hits = [_hit(facts[c.id], c, moment, window, settings.ranking) for c in candidates if c.id in facts]
    hits.sort(key=lambda hit: (-hit.score, hit.fact.fact_id))
    return hits if size <= settings.whole_up_to else hits[:limit]


async def search_scope(
    conn: Connection,
    scope: SQL | Composed,
    parameters: Mapping[str, object],
    query_text: str,
    query_vector: Vector,
    settings: SearchSettings,
) -> tuple[list[Candidate], int]:
    """The candidates within any SELECT of (id, tsv, embedding), most relevant first, and how many rows it has."""
    statement = SQL(SEARCH.scoped).format(scope=scope)
    values = {
        **parameters,
        "lexemes": await query_lexemes(conn, query_text),
        "vector": vector_literal(query_vector),
        "dimensions": len(query_vector),
        "candidates": settings.candidates,
    }
    async with conn.cursor(row_factory=dict_row) as cursor:
        rows = await (await cursor.execute(statement, values)).fetchall()
    return fused(rows, settings.dense_share), rows[0]["scope_size"] if rows else 0


def fused(rows: Sequence[Mapping[str, Any]], dense_share: float) -> list[Candidate]:
    """Rows of (id, similarity, lexical) as candidates, most relevant first."""
    dense = np.array([np.nan if row["similarity"] is None else row["similarity"] for row in rows], dtype=np.float64)
    lexical = np.array([row["lexical"] for row in rows], dtype=np.float64)
    relevance = convex(dense, lexical, dense_share)
    found = [
        Candidate(row["id"], row["similarity"], row["lexical"], float(score))
        for row, score in zip(rows, relevance, strict=True)
    ]
    return sorted(found, key=lambda c: (-c.relevance, c.id))


def _fact_scope(
    workspace: str, participant_id: UUID | None, moment: datetime, window: Window | None
) -> tuple[Composed, dict[str, object]]:
    parameters: dict[str, object] = {"workspace": workspace, "as_of": moment}
    condition = SQL(SEARCH.believed_and_valid)
    if window is not None:
        condition = SQL(SEARCH.so_within_window)
        parameters |= {"window_start": window.start, "window_end": window.end}
    if participant_id is None:
        return Composed([condition]), parameters
    return condition + SQL(" AND participant_id = %(participant_id)s"), parameters | {"participant_id": participant_id}


async def _facts_by_id(conn: Connection, ids: list[UUID]) -> dict[UUID, Fact]:
    async with conn.cursor(row_factory=class_row(Fact)) as cursor:
        rows = await (await cursor.execute(SEARCH.facts_by_id, {"ids": ids})).fetchall()
    return {row.fact_id: row for row in rows}


def _hit(fact: Fact, found: Candidate, now: datetime, window: Window | None, settings: RankingSettings) -> Hit:
    standing = Standing(fact.kind, fact.importance, fact.weight, fact.confidence, fact.pinned, fact.valid_from)
    score = standing_score(found.relevance, standing, now, window, settings)
    return Hit(fact, score, found.relevance, found.similarity, found.lexical)
