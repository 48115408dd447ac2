"""LoCoMo in Postgres: conversations as passages, searched by the product's own code."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID, uuid5

from pgvector import HalfVector
from psycopg.rows import tuple_row
from psycopg.sql import SQL

from services.core.db.pool import Connection
from services.core.db.sql import queries
from services.memory.embeddings import Embedder, Vector
from tests.benchmarks.locomo import Conversation

INDEX = queries(__file__, "locomo_index.sql")
NAMESPACE = UUID("6f1d4a52-4c0b-5d6e-9a51-1f6c3c9e7b10")


@dataclass(frozen=True, slots=True)
class Indexed:
    """A conversation that lies in Postgres: its number there, its turns by id, and vectors of turns and questions."""

    number: int
    conversation: Conversation
    turn_of: dict[UUID, int]
    turn_vectors: Sequence[Vector]
    question_vectors: Sequence[Vector]

    @property
    def parameters(self) -> dict[str, object]:
        """What its scope needs."""
        return {"conversation": self.number}


SCOPE = SQL(INDEX.scope)


async def index_all(conn: Connection, embedder: Embedder, conversations: Sequence[Conversation]) -> list[Indexed]:
    """All conversations, embedded and inserted; the temporary table lives as long as the connection."""
    await conn.execute(INDEX.create)
    indexed = [await _index(conn, embedder, number, each) for number, each in enumerate(conversations)]
    await conn.execute("ANALYZE turns")
    return indexed


async def dense(conn: Connection, indexed: Indexed, vector: Vector, limit: int) -> list[int]:
    """Turns by cosine alone."""
    values = {**indexed.parameters, "vector": HalfVector(vector), "limit": limit}
    async with conn.cursor(row_factory=tuple_row) as cursor:
        rows = await (await cursor.execute(INDEX.dense, values)).fetchall()
    return [indexed.turn_of[row[0]] for row in rows]


async def stems(conn: Connection, indexed: Indexed) -> list[list[str]]:
    """The stems of each turn, in order."""
    async with conn.cursor(row_factory=tuple_row) as cursor:
        return [row[0] for row in await (await cursor.execute(INDEX.stems, indexed.parameters)).fetchall()]


async def query_stems(conn: Connection, text: str) -> list[str]:
    """The stems of a question."""
    async with conn.cursor(row_factory=tuple_row) as cursor:
        row = await (await cursor.execute(INDEX.query_stems, {"text": text})).fetchone()
    return list(row[0]) if row else []


async def _index(conn: Connection, embedder: Embedder, number: int, conversation: Conversation) -> Indexed:
    vectors = await embedder.embed([turn.said for turn in conversation.turns])
    ids = [uuid5(NAMESPACE, f"{number}/{turn.session}/{turn.position}") for turn in conversation.turns]
    rows = [
        {
            "id": identity,
            "conversation": number,
            "number": place,
            "stream": uuid5(NAMESPACE, f"{number}/{turn.session}"),
            "position": turn.position,
            "speaker": turn.speaker,
            "text": turn.said,
            "at": turn.at,
            "embedding": HalfVector(vector),
        }
        for place, (identity, turn, vector) in enumerate(zip(ids, conversation.turns, vectors, strict=True))
    ]
    async with conn.cursor() as cursor:
        await cursor.executemany(INDEX.insert, rows)
    questions = await embedder.embed([question.text for question in conversation.questions])
    return Indexed(number, conversation, {key: n for n, key in enumerate(ids)}, vectors, questions)
