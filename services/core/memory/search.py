"""Finding facts by meaning: candidates from Postgres, fused, weighed, best first.

Words and vectors each nominate candidates (150, so about 300 in all); a convex fusion of both scores says
how relevant one is, and `ranking` weighs in what else is known of it. A participant's memory is searched
exactly, and comes back whole where it is small (100 entries or fewer); a workspace is searched through the
indices. Everything is a function of the rows, the query and the `now` it is given.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

import numpy as np
from psycopg.rows import class_row
from psycopg.sql import SQL, Composed, Literal

from services.core.db.pool import Connection
from services.core.db.sql import queries
from services.core.memory.embeddings import Vector, vector_literal
from services.core.memory.facts import Fact
from services.core.memory.fusion import convex
from services.core.memory.ranking import RankingSettings, standing_score
from services.core.memory.rarity import Word, rare_words, tsquery
from services.core.memory.temporal import Window

SEARCH = queries(__file__, "search.sql")


@dataclass(frozen=True, slots=True)
class SearchSettings:
    """`candidates` per list; memories of up to `whole_up_to` facts come back whole; `dense_share` of the fusion.

    For a workspace: `breadth` is how many neighbours the vector index keeps in view, `cap` the most facts that
    the query's rare words may bring in.
    """

    candidates: int = 150
    whole_up_to: int = 100
    dense_share: float = 0.5
    breadth: int = 400
    cap: int = 1000
    ranking: RankingSettings = field(default_factory=RankingSettings)


@dataclass(frozen=True, slots=True)
class Hit:
    """A fact that was found: its final score (higher is better), and the parts that this came from.

    `relevance` is the fused score, 0..1 within one query; `similarity` the cosine, None where the fact has no
    vector yet; `lexical` the BM25 score; `coverage` the share of the query's words that it holds, 0..1.
    """

    fact: Fact
    score: float
    relevance: float
    similarity: float | None
    lexical: float
    coverage: float


@dataclass(frozen=True, slots=True)
class Query:
    """What is looked for, where, and as of when; see `search_facts`."""

    workspace: str
    participant_id: UUID | None
    text: str
    vector: Vector
    moment: datetime
    window: Window | None


class Candidate(NamedTuple):
    """A nominated row of `facts` with its scores; `scope_size` is how many rows there were to choose from."""

    fact_id: UUID
    kind: str
    importance: float
    weight: float
    confidence: float
    pinned: bool
    valid_from: datetime
    similarity: float | None
    lexical: float
    coverage: float
    scope_size: int | None


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
    """The facts that answer a query, best first: at most `limit`, or all of a participant's small memory.

    `query_vector` is L2-normalised. `as_of` (default: now) is the state of knowledge that is asked;
    `window` asks for what was so within it, changed or expired facts included. Without a participant
    the whole workspace is searched.
    """
    settings = settings or SearchSettings()
    query = Query(workspace, participant_id, query_text, query_vector, as_of or now, window)
    nominate = _of_workspace if participant_id is None else _of_participant
    candidates = await nominate(conn, query, settings)
    ranked = _ranked(candidates, query, settings)
    size = candidates[0].scope_size if candidates else None
    whole = size is not None and size <= settings.whole_up_to
    return await _with_facts(conn, ranked if whole else ranked[:limit])


def _ranked(
    candidates: Sequence[Candidate], query: Query, settings: SearchSettings
) -> list[tuple[Candidate, float, float]]:
    """(candidate, score, relevance), best first; equal scores by id, so that the order is always the same."""
    dense = np.array([np.nan if c.similarity is None else c.similarity for c in candidates], dtype=np.float64)
    lexical = np.array([c.lexical for c in candidates], dtype=np.float64)
    relevances = convex(dense, lexical, settings.dense_share).tolist()
    scored = [
        (c, standing_score(relevance, c, query.moment, query.window, settings.ranking), relevance)
        for c, relevance in zip(candidates, relevances, strict=True)
    ]
    return sorted(scored, key=lambda entry: (-entry[1], entry[0].fact_id))


async def _of_participant(conn: Connection, query: Query, settings: SearchSettings) -> list[Candidate]:
    condition, values = _condition(query)
    statement = _statement(SQL(SEARCH.of_participant), condition, query)
    values |= {"participant_id": query.participant_id, "text": query.text, "candidates": settings.candidates}
    return await _candidates(conn, statement, values)


async def _of_workspace(conn: Connection, query: Query, settings: SearchSettings) -> list[Candidate]:
    async with conn.transaction():
        async with conn.cursor(row_factory=class_row(Word)) as cursor:
            words = await (await cursor.execute(SEARCH.words, {"text": query.text})).fetchall()
        await conn.execute(SEARCH.breadth, {"breadth": str(settings.breadth)})
        condition, values = _condition(query)
        values |= {
            "lexemes": [word.lexeme for word in words],
            "rarities": [word.rarity for word in words],
            "rare": tsquery(rare_words(words, settings.cap)),
            "cap": settings.cap,
            "candidates": settings.candidates,
        }
        return await _candidates(conn, _statement(SQL(SEARCH.of_workspace), condition, query), values)


def _condition(query: Query) -> tuple[SQL, dict[str, Any]]:
    values: dict[str, Any] = {
        "workspace": query.workspace,
        "as_of": query.moment,
        "vector": vector_literal(query.vector),
    }
    if query.window is None:
        return SQL(SEARCH.believed_and_valid), values
    return SQL(SEARCH.so_within_window), values | {"window_start": query.window.start, "window_end": query.window.end}


def _statement(template: SQL, condition: SQL, query: Query) -> Composed:
    return template.format(condition=condition, dimensions=Literal(len(query.vector)))


async def _candidates(conn: Connection, statement: Composed, values: dict[str, Any]) -> list[Candidate]:
    async with conn.cursor(row_factory=class_row(Candidate), binary=True) as cursor:
        return await (await cursor.execute(statement, values)).fetchall()


async def _with_facts(conn: Connection, ranked: Sequence[tuple[Candidate, float, float]]) -> list[Hit]:
    async with conn.cursor(row_factory=class_row(Fact)) as cursor:
        rows = await (await cursor.execute(SEARCH.by_id, {"ids": [c.fact_id for c, _, _ in ranked]})).fetchall()
    facts = {row.fact_id: row for row in rows}
    return [
        Hit(facts[c.fact_id], score, relevance, c.similarity, c.lexical, c.coverage)
        for c, score, relevance in ranked
        if c.fact_id in facts
    ]
