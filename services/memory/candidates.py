"""Facts that may answer a query, nominated by Postgres: by their vectors, and by the words that they share with it.

A participant's memory is searched exactly; a workspace through the indices. One statement brings each fact with its
scores; nothing is ranked here.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, LiteralString, NamedTuple
from uuid import UUID

from pgvector import HalfVector
from psycopg.rows import tuple_row
from psycopg.sql import SQL, Composable, Composed, Literal

from services.core.db import Connection, queries, rows_as
from services.memory.embeddings import Meaning
from services.memory.facts import HAPPENED, Fact
from services.memory.periods import Window
from services.memory.ranking import RankingSettings
from services.memory.rarity import Word, rare_words, tsquery

SEARCH = queries(__file__, "candidates.sql")


@dataclass(frozen=True, slots=True)
class SearchSettings:
    """`candidates` per list; memories of up to `whole_up_to` facts come back whole; `dense_share` of the fusion.

    For a workspace: `breadth` is how many neighbours the vector index keeps in view (`hnsw.ef_search`), `cap` the most
    facts that the query's rare words may bring in. `stale_weight` is what a stale fact weighs next to others.
    """

    candidates: int = 150
    whole_up_to: int = 100
    dense_share: float = 0.5
    breadth: int = 400
    cap: int = 1000
    stale_weight: float = 0.5
    ranking: RankingSettings = field(default_factory=RankingSettings)


@dataclass(frozen=True, slots=True)
class Query:
    """What is looked for, where, and as of when; see `search_facts`. Only what is listed by time needs no meaning.

    `language` is that of the words, as `detect_language` names it; where it is not known they are taken for English.
    """

    workspace: str
    participant_id: UUID | None
    text: str
    meaning: Meaning | None
    moment: datetime
    window: Window | None
    language: str = ""


class Candidate(NamedTuple):
    """A nominated fact with its scores; `scope_size` is how many there were to choose from, `derived`: from others."""

    fact: Fact
    similarity: float | None
    lexical: float
    coverage: float
    scope_size: int | None
    derived: bool


async def nominate(conn: Connection, query: Query, settings: SearchSettings) -> list[Candidate]:
    """The candidates for a query, in no order."""
    return await (_of_workspace if query.participant_id is None else _of_participant)(conn, query, settings)


async def newest(conn: Connection, query: Query, count: int) -> list[Candidate]:
    """What is known of one participant, whatever the query's words: at most `count`, the newest first."""
    statement, values = _statement(SEARCH.newest, query)
    return await _candidates(conn, statement, values | {"candidates": count})


async def _of_participant(conn: Connection, query: Query, settings: SearchSettings) -> list[Candidate]:
    statement, values = _statement(SEARCH.of_participant, query)
    return await _candidates(conn, statement, values | {"candidates": settings.candidates})


async def _of_workspace(conn: Connection, query: Query, settings: SearchSettings) -> list[Candidate]:
    async with conn.transaction():
        words = await rows_as(conn, Word, SEARCH.words, {"text": query.text})
        await conn.execute(SEARCH.breadth, {"breadth": str(settings.breadth)})
        statement, values = _statement(SEARCH.of_workspace, query)
        values |= {
            "lexemes": [word.lexeme for word in words],
            "rarities": [word.rarity for word in words],
            "rare": tsquery(rare_words(words, settings.cap)),
            "cap": settings.cap,
            "candidates": settings.candidates,
        }
        return await _candidates(conn, statement, values)


def _statement(template: LiteralString, query: Query) -> tuple[Composed, dict[str, Any]]:
    """A statement with the parts that several share, and what its placeholders stand for."""
    condition = SQL(SEARCH.believed_and_valid if query.window is None else SEARCH.so_within_window)
    parts: dict[str, Composable] = {
        "condition": condition,
        "theirs": SQL(SEARCH.theirs).format(condition=condition),
        "nominated": SQL(SEARCH.nominated),
        "shown": SQL(SEARCH.shown),
    }
    values: dict[str, Any] = {
        "workspace": query.workspace,
        "participant_id": query.participant_id,
        "as_of": query.moment,
        "text": query.text,
        "language": query.language,
    }
    if query.meaning is not None:
        model = query.meaning.model.replace("%", "%%")  # in a statement that has placeholders
        parts |= {"model": Literal(model), "dimensions": Literal(len(query.meaning.vector))}
        values["vector"] = HalfVector(query.meaning.vector)
    if query.window is not None:
        values |= {"window_start": query.window.start, "window_end": query.window.end, "occurrences": sorted(HAPPENED)}
    return SQL(template).format(**parts), values


async def _candidates(conn: Connection, statement: Composed, values: dict[str, Any]) -> list[Candidate]:
    async with conn.cursor(row_factory=tuple_row, binary=True) as cursor:
        rows = await (await cursor.execute(statement, values)).fetchall()
    return [Candidate(Fact(*row[5:]), *row[:5]) for row in rows]
