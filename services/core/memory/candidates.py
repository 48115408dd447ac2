"""Facts that may answer a query, nominated by Postgres: by their vectors, and by the words that they share with it.

A participant's memory is searched exactly; a workspace through the indices. One statement brings each fact with its
scores; nothing is ranked here.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from psycopg.rows import class_row, tuple_row
from psycopg.sql import SQL, Composed, Literal

from services.core.db.pool import Connection
from services.core.db.sql import queries
from services.core.memory.embeddings import Meaning, vector_literal
from services.core.memory.facts import Fact
from services.core.memory.periods import Window
from services.core.memory.ranking import RankingSettings
from services.core.memory.rarity import Word, rare_words, tsquery

SEARCH = queries(__file__, "candidates.sql")


@dataclass(frozen=True, slots=True)
class SearchSettings:
    """`candidates` per list; memories of up to `whole_up_to` facts come back whole; `dense_share` of the fusion.

    For a workspace: `breadth` is how many neighbours the vector index keeps in view (`hnsw.ef_search`), `cap` the most
    facts that the query's rare words may bring in.
    """

    candidates: int = 150
    whole_up_to: int = 100
    dense_share: float = 0.5
    breadth: int = 400
    cap: int = 1000
    ranking: RankingSettings = field(default_factory=RankingSettings)


@dataclass(frozen=True, slots=True)
class Query:
    """What is looked for, where, and as of when; see `search_facts`."""

    workspace: str
    participant_id: UUID | None
    text: str
    meaning: Meaning
    moment: datetime
    window: Window | None


class Candidate(NamedTuple):
    """A nominated fact with its scores; `scope_size` is how many facts there were to choose from."""

    fact: Fact
    similarity: float | None
    lexical: float
    coverage: float
    scope_size: int | None


async def nominate(conn: Connection, query: Query, settings: SearchSettings) -> list[Candidate]:
    """The candidates for a query, in no order."""
    return await (_of_workspace if query.participant_id is None else _of_participant)(conn, query, settings)


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
        "vector": vector_literal(query.meaning.vector),
    }
    if query.window is None:
        return SQL(SEARCH.believed_and_valid), values
    return SQL(SEARCH.so_within_window), values | {"window_start": query.window.start, "window_end": query.window.end}


def _statement(template: SQL, condition: SQL, query: Query) -> Composed:
    model = Literal(query.meaning.model.replace("%", "%%"))  # in a statement that has placeholders
    return template.format(condition=condition, model=model, dimensions=Literal(len(query.meaning.vector)))


async def _candidates(conn: Connection, statement: Composed, values: dict[str, Any]) -> list[Candidate]:
    async with conn.cursor(row_factory=tuple_row, binary=True) as cursor:
        rows = await (await cursor.execute(statement, values)).fetchall()
    return [Candidate(Fact(*row[4:]), *row[:4]) for row in rows]
