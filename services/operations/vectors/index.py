"""The index of one model's vectors, which searching a whole workspace by meaning needs.

It is made without holding anybody up, where there are facts enough for it: below that, all of them are compared, which
is exact and takes milliseconds. A rebuild makes tables without it, so the deployment looks for it again and again.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import structlog
from psycopg import sql

from services.core.db import Connection, fetch_all, fetch_one
from services.memory.embeddings import Embedder
from services.operations.vectors.renewal import SQL

LEAST_FACTS = 10_000
M, EF_CONSTRUCTION = 16, 200  # edges of a fact in the graph, and how widely its neighbours are looked for

log = structlog.get_logger(__name__)


def index_name(model: str) -> str:
    """The name of a model's index; one that is made otherwise has another."""
    made = f"{model}\n{M}\n{EF_CONSTRUCTION}"
    return f"facts_by_meaning_{hashlib.sha256(made.encode()).hexdigest()[:12]}"


def index_statements(model: str, dimensions: int) -> Sequence[sql.Composed]:
    """What makes a model's index and says whose it is; in autocommit."""
    name, whose = sql.Identifier(index_name(model)), sql.Literal(model)
    made = sql.SQL(SQL.index).format(
        name=name,
        model=whose,
        dimensions=sql.Literal(dimensions),
        m=sql.Literal(M),
        ef_construction=sql.Literal(EF_CONSTRUCTION),
    )
    return made, sql.SQL(SQL.name_model).format(name=name, model=whose)


async def index_is_due(conn: Connection, embedder: Embedder) -> bool:
    """Whether the model's index is missing, or was left half made, and there are facts enough for it."""
    stands = await fetch_one(conn, SQL.index_stands, {"name": index_name(embedder.name)})
    if stands is not None and stands["valid"]:
        return False
    row = await fetch_one(conn, SQL.index_is_due, {"model": embedder.name, "least": LEAST_FACTS})
    return bool(row and row["due"])


async def make_index(conn: Connection, embedder: Embedder) -> None:
    """Make the model's index again. Nobody else may be making it."""
    log.info("making the index of vectors", model=embedder.name)
    await _drop(conn, index_name(embedder.name))
    for statement in index_statements(embedder.name, embedder.dimensions):
        await conn.execute(statement)


async def drop_idle(conn: Connection, embedder: Embedder) -> None:
    """Drop the indices of models that no fact has a vector of any more, and this model's that were made otherwise."""
    args = {"name": index_name(embedder.name), "model": embedder.name}
    for row in await fetch_all(conn, SQL.idle_indices, args):
        await _drop(conn, row["name"])


async def _drop(conn: Connection, name: str) -> None:
    await conn.execute(sql.SQL(SQL.drop_index).format(name=sql.Identifier(name)))
