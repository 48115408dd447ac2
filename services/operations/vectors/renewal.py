"""Gives facts, passages and summaries that have no vector of the embedder in use one.

Invariants
- A batch is a transaction of its own: who is killed has lost one batch, and whoever comes next goes on from there.
- It is written only while nobody rebuilds or erases (`alone.hold`), and only to rows that still say what was read: no
  vector of somebody who was erased meanwhile comes back, to a row or to the cache.
- It waits for no row, so it holds nobody up: what is being changed is left for the next round.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, LiteralString
from uuid import UUID

import structlog
from pgvector import HalfVector

from services.core.db import Connection, fetch_all, fetch_one, queries
from services.memory.embedding_cache import keep, look_up
from services.memory.embeddings import Embedder, TextRefused, Vector
from services.operations.history_lock import hold

SQL = queries(__file__)
BATCH = 128  # texts
FIRST = UUID(int=0)

Guard = Callable[[Connection], Awaitable[None]]

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Lacking:
    """How many facts and passages have a vector of another model, and how many have none yet.

    `said` are passages of conversations, summaries of threads and told periods, `passages` those of documents.
    """

    facts_of_others: int
    facts_without: int
    passages_of_others: int
    passages_without: int
    said_of_others: int
    said_without: int

    @property
    def others(self) -> int:
        """Rows whose vector another model made."""
        return self.facts_of_others + self.passages_of_others + self.said_of_others

    @property
    def total(self) -> int:
        """Rows that are found by their words alone."""
        return self.others + self.facts_without + self.passages_without + self.said_without


@dataclass(frozen=True, slots=True)
class Batch:
    """How many of some rows got their vector; those whose text the embedder refuses are told apart."""

    given: int
    refused: int


@dataclass(frozen=True, slots=True)
class Store:
    """Where vectors lie, as statements."""

    lacking: LiteralString
    attach: LiteralString


STORES = (
    Store(SQL.passages_lacking, SQL.attach_to_passages),
    Store(SQL.facts_lacking, SQL.attach_to_facts),
    Store(SQL.summaries_lacking, SQL.attach_to_summaries),
    Store(SQL.said_lacking, SQL.attach_to_said),
    Store(SQL.periods_lacking, SQL.attach_to_periods),
)


async def in_private(_: Connection) -> None:
    """The guard of tables that nobody else sees."""


async def count_lacking(conn: Connection, model: str, workspace: str) -> Lacking:
    """What of a workspace has no vector of the model."""
    row = await fetch_one(conn, SQL.lacking, {"workspace": workspace, "model": model})
    assert row is not None
    return Lacking(**row)


async def renew(conn: Connection, embedder: Embedder, workspace: str, guard: Guard = hold) -> AsyncIterator[Batch]:
    """Go once through all that lacks a vector, yielding after each batch; `conn` is in autocommit.

    Raises what the embedder and the guard raise; what is done stays done.
    """
    for store in STORES:
        after = FIRST
        while rows := await fetch_all(conn, store.lacking, _args(embedder, workspace, after=after, limit=BATCH)):
            yield await _give(conn, embedder, store, rows, guard)
            after = rows[-1]["id"]


async def give_vectors(conn: Connection, embedder: Embedder, workspace: str, guard: Guard = hold) -> int:
    """Go once through all that lacks a vector; how many got theirs."""
    return sum([batch.given async for batch in renew(conn, embedder, workspace, guard)])


async def _give(
    conn: Connection, embedder: Embedder, store: Store, rows: Sequence[dict[str, Any]], guard: Guard
) -> Batch:
    texts = list(dict.fromkeys(row["text"] for row in rows))
    known = await look_up(conn, embedder, texts)
    made = await _made(embedder, [text for text in texts if text not in known])
    vectors = {**known, **made}
    able = [row for row in rows if row["text"] in vectors]
    said = {row["id"]: row["text"] for row in able}
    async with conn.transaction():
        await guard(conn)
        halves = [HalfVector(vectors[text]) for text in said.values()]
        args = {"model": embedder.name, "ids": list(said), "texts": list(said.values()), "vectors": halves}
        done = await fetch_all(conn, store.attach, args)
        given = {said[row["id"]] for row in done}
        await keep(conn, embedder, {text: vector for text, vector in made.items() if text in given})
    return Batch(len(done), len(rows) - len(able))


async def _made(embedder: Embedder, texts: list[str]) -> dict[str, Vector]:
    """Vectors of the texts that the embedder takes; one that it refuses keeps no other from its own.

    Raises `TextRefused` where it takes none of several: then it is not about the texts.
    """
    try:
        return dict(zip(texts, await embedder.embed(texts), strict=True)) if texts else {}
    except TextRefused as error:
        if len(texts) == 1:
            log.warning("the embedder refuses a text, which is found by its words alone", error=str(error))
            return {}
        half = len(texts) // 2
        made = {**await _made_or_none(embedder, texts[:half]), **await _made_or_none(embedder, texts[half:])}
        if not made:
            raise
        return made


async def _made_or_none(embedder: Embedder, texts: list[str]) -> dict[str, Vector]:
    try:
        return await _made(embedder, texts)
    except TextRefused:
        return {}


def _args(embedder: Embedder, workspace: str, **more: Any) -> dict[str, Any]:
    return {"workspace": workspace, "model": embedder.name, **more}
