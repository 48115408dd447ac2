"""Vectors kept in Postgres by (model, sha256 of the text), and given to the facts that lack them.

Losing the table loses time, never knowledge; nothing here takes part in a state hash.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence

import numpy as np
from psycopg.rows import tuple_row
from psycopg.sql import SQL, Identifier, Literal

from services.core.db.pool import Connection
from services.core.db.sql import queries
from services.core.memory.embeddings import Embedder, Vector, vector_literal

EMBEDDINGS = queries(__file__, "embeddings.sql")

MIGRATED_DIMENSIONS = 384  # the index of which the migration makes


def text_digest(text: str) -> str:
    """The hex digest a text's vector is kept under."""
    return hashlib.sha256(text.encode()).hexdigest()


async def embed_cached(conn: Connection, embedder: Embedder, texts: Sequence[str]) -> list[Vector]:
    """A vector for each text, in order; only texts that were never embedded by this model reach the embedder."""
    known = await _cached(conn, embedder.name, texts)
    missing = [text for text in dict.fromkeys(texts) if text_digest(text) not in known]
    if missing:
        made = dict(zip(missing, await embedder.embed(missing), strict=True))
        known |= {text_digest(text): vector for text, vector in made.items()}
        await _keep(conn, embedder.name, made)
    return [known[text_digest(text)] for text in texts]


async def embed_facts(conn: Connection, embedder: Embedder, workspace: str, limit: int = 500) -> int:
    """Gives vectors to facts that have none of this model, newest first; how many (0 = all have one)."""
    parameters = {"workspace": workspace, "model": embedder.name, "limit": limit}
    async with conn.cursor(row_factory=tuple_row) as cursor:
        rows = await (await cursor.execute(EMBEDDINGS.without_vector, parameters)).fetchall()
    if not rows:
        return 0
    vectors = await embed_cached(conn, embedder, [text for _, text in rows])
    for (fact_id, _), vector in zip(rows, vectors, strict=True):
        values = {"vector": vector_literal(vector), "model": embedder.name, "fact_id": fact_id}
        await conn.execute(EMBEDDINGS.attach, values)
    return len(rows)


async def index_facts(conn: Connection, dimensions: int) -> None:
    """Makes the vector index that searching a workspace by vectors of this dimension needs, where it is missing."""
    name = "facts_by_meaning" if dimensions == MIGRATED_DIMENSIONS else f"facts_by_meaning_{dimensions}"
    statement = SQL(EMBEDDINGS.index_meaning).format(name=Identifier(name), dimensions=Literal(dimensions))
    await conn.execute(statement)


async def _cached(conn: Connection, model: str, texts: Sequence[str]) -> dict[str, Vector]:
    parameters = {"model": model, "digests": [text_digest(text) for text in texts]}
    async with conn.cursor(row_factory=tuple_row) as cursor:
        rows = await (await cursor.execute(EMBEDDINGS.cached, parameters)).fetchall()
    return {digest: np.array(vector, dtype=np.float32) for digest, vector in rows}


async def _keep(conn: Connection, model: str, vectors: Mapping[str, Vector]) -> None:
    """Together, and in one order everywhere, so that two writers never wait for each other."""
    digests = sorted((text_digest(text), text) for text in vectors)
    values = [{"model": model, "digest": one, "vector": vector_literal(vectors[text])} for one, text in digests]
    async with conn.cursor() as cursor:
        await cursor.executemany(EMBEDDINGS.keep, values)
