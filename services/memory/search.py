"""Finding facts by meaning: candidates from Postgres, fused, weighed, best first.

Words and vectors each nominate candidates (150, so about 300 in all); a convex fusion of both scores says
how relevant one is, and `ranking` weighs in what else is known of it. A participant's small memory (100 entries or
fewer) comes back whole. Everything is a function of the rows, the query and the `now` it is given.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

import numpy as np

from services.core.db.pool import Connection
from services.memory.candidates import Candidate, Query, SearchSettings, newest, nominate
from services.memory.derived import lapsed_among, lightened
from services.memory.embeddings import Meaning
from services.memory.facts import Fact
from services.memory.fusion import convex
from services.memory.periods import Window
from services.memory.ranking import final_score, timely

__all__ = ["Hit", "SearchSettings", "newest_facts", "search_facts"]


@dataclass(frozen=True, slots=True)
class Hit:
    """A fact that was found: its final score (higher is better), and the parts that this came from.

    `relevance` is the fused score, times the nearness to a time that is asked, 0..1 within one query; `similarity` the
    cosine, None where the fact has no vector of that model; `lexical` the BM25 score; `coverage` the share of the
    query's words that it holds, 0..1.
    """

    fact: Fact
    score: float
    relevance: float
    similarity: float | None
    lexical: float
    coverage: float


async def search_facts(
    conn: Connection,
    *,
    workspace: str,
    participant_id: UUID | None,
    query_text: str,
    meaning: Meaning,
    now: datetime,
    as_of: datetime | None = None,
    window: Window | None = None,
    language: str = "",
    limit: int = 20,
    settings: SearchSettings | None = None,
) -> list[Hit]:
    """The facts that answer a query, best first: at most `limit`, or all of a participant's small memory.

    The most relevant one is always among them, however little it weighs otherwise: it is what answers, if any does.
    `meaning` is that of the query; facts without a vector of its model are found by their words. `as_of`
    (default: now) is the state of knowledge that is asked; `window` asks for what was so within it, changed or
    expired facts included. `language` is that of the query's words. Without a participant the whole workspace is
    searched.
    """
    settings = settings or SearchSettings()
    query = Query(workspace, participant_id, query_text, meaning, as_of or now, window, language)
    candidates = await _weighed(conn, query, await nominate(conn, query, settings), settings.stale_weight)
    ranked = _ranked(candidates, query, settings)
    size = candidates[0].scope_size if candidates else None
    whole = size is not None and size <= settings.whole_up_to
    return ranked if whole else _first(ranked, limit)


async def newest_facts(
    conn: Connection,
    *,
    workspace: str,
    participant_id: UUID,
    now: datetime,
    window: Window | None = None,
    limit: int = 20,
) -> list[Fact]:
    """What became so last, newest first, of what is so now, or was so within `window`, changed since or not."""
    query = Query(workspace, participant_id, "", None, now, window)
    return [one.fact for one in await newest(conn, query, limit)]


async def _weighed(conn: Connection, query: Query, candidates: list[Candidate], stale_weight: float) -> list[Candidate]:
    """The candidates, of which those that are marked stale or rest on what has ended by itself weigh so much."""
    found = [one.fact.fact_id for one in candidates if one.derived]
    lapsed = await lapsed_among(conn, query.workspace, found, query.moment)
    stale = {one.fact.fact_id for one in candidates if one.fact.weight < 1} | set(lapsed)
    return [
        one._replace(fact=lightened(one.fact, stale_weight)) if one.fact.fact_id in stale else one for one in candidates
    ]


def _ranked(candidates: Sequence[Candidate], query: Query, settings: SearchSettings) -> list[Hit]:
    """Best first; equal scores by id, so that the order is always the same."""
    dense = np.array([np.nan if c.similarity is None else c.similarity for c in candidates], dtype=np.float64)
    lexical = np.array([c.lexical for c in candidates], dtype=np.float64)
    relevances = convex(dense, lexical, settings.dense_share).tolist()
    hits = [_hit(c, relevance, query, settings) for c, relevance in zip(candidates, relevances, strict=True)]
    return sorted(hits, key=lambda hit: (-hit.score, hit.fact.fact_id))


def _hit(found: Candidate, relevance: float, query: Query, settings: SearchSettings) -> Hit:
    score = final_score(relevance, found.fact, query.moment, query.window, settings.ranking)
    return Hit(found.fact, score, timely(relevance, found.fact, query.window, settings.ranking), *found[1:4])


def _first(ranked: list[Hit], limit: int) -> list[Hit]:
    """The first `limit`, of which the last ones make room for what is pinned, and for the most relevant one."""
    most = max(ranked, key=lambda hit: hit.relevance, default=None)
    kept = [hit for hit in ranked if hit.fact.pinned or hit is most]
    room = max(limit - len(kept), 0)
    others = [hit for hit in ranked if not (hit.fact.pinned or hit is most)][:room]
    chosen = {id(hit) for hit in (*kept, *others)}
    return [hit for hit in ranked if id(hit) in chosen]
