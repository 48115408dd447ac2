"""Vectors kept in Postgres by (model, sha256 of the text), and given to facts.

Losing the table loses time, never knowledge; nothing here takes part in a state hash.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Mapping, Sequence
from uuid import UUID

import numpy as np
from pgvector import HalfVector
from psycopg.rows import tuple_row

from services.core.db.pool import Connection, Database
from services.core.db.sql import queries
from services.memory.embeddings import Embedder, Vector

EMBEDDINGS = queries(__file__, "embeddings.sql")


def text_digest(text: str) -> str:
    """The hex digest a text's vector is kept under."""
    return hashlib.sha256(text.encode()).hexdigest()


async def vectors_of_texts(database: Database, embedder: Embedder, texts: Sequence[str]) -> list[Vector]:
    """A vector for each text, in order, as `embed_cached`; while the embedder is asked no connection is held."""
    async with database.reading() as conn:
        known = await look_up(conn, embedder, texts)
    made = await embed_missing(embedder, texts, known)
    if made:
        async with database.reading() as conn:
            await keep(conn, embedder, made)
    vectors = known | made
    return [vectors[text] for text in texts]


async def embed_cached(conn: Connection, embedder: Embedder, texts: Sequence[str]) -> list[Vector]:
    """A vector for each text, in order; only texts that were never embedded by this model reach the embedder."""
    known = await look_up(conn, embedder, texts)
    made = await embed_missing(embedder, texts, known)
    await keep(conn, embedder, made)
    vectors = known | made
    return [vectors[text] for text in texts]


async def look_up(conn: Connection, embedder: Embedder, texts: Iterable[str]) -> dict[str, Vector]:
    """The vectors of those of the texts that the cache has."""
    digests = {text_digest(text): text for text in texts}
    parameters = {"model": embedder.name, "digests": list(digests)}
    async with conn.cursor(row_factory=tuple_row, binary=True) as cursor:
        rows = await (await cursor.execute(EMBEDDINGS.cached, parameters)).fetchall()
    return {digests[digest]: np.array(vector.to_numpy(), dtype=np.float32) for digest, vector in rows}


async def embed_missing(embedder: Embedder, texts: Iterable[str], known: Collection[str]) -> dict[str, Vector]:
    """A new vector for each text that is not known."""
    missing = [text for text in dict.fromkeys(texts) if text not in known]
    return dict(zip(missing, await embedder.embed(missing), strict=True)) if missing else {}


async def keep(conn: Connection, embedder: Embedder, made: Mapping[str, Vector]) -> None:
    """Put new vectors into the cache."""
    if made:
        digests, vectors = [text_digest(text) for text in made], list(made.values())
        await conn.execute(EMBEDDINGS.keep, {"model": embedder.name, "digests": digests, "vectors": vectors})


async def attach(conn: Connection, embedder: Embedder, vectors: Mapping[UUID, Vector]) -> None:
    """Give facts their vectors."""
    halves = [HalfVector(one) for one in vectors.values()]
    values = {"fact_ids": list(vectors), "vectors": halves, "model": embedder.name}
    await conn.execute(EMBEDDINGS.attach, values)
