"""Facts drawn at random: unit vectors around cluster centres, words by Zipf's law. Deterministic."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import psycopg
from numpy.typing import NDArray
from pgvector import HalfVector
from pgvector.psycopg import register_vector

from services.core.db.sql import queries
from services.memory.embeddings import MiniLM, Vector, normalise
from services.memory.vocabulary import VOCABULARY
from services.operations.vectors.index import LEAST_FACTS, index_statements

FACTS = queries(__file__, "synthetic_facts.sql")
CLUSTERS = 2000
SPREAD = 0.9  # noise beside a centre of the same length: cosines of about .55 within a cluster
WORDS = 12  # a fact
BATCH = 10_000
SEED = 7
INDICES = ("facts_of_participant", "facts_by_word")
MODEL, DIMENSIONS = MiniLM.name, MiniLM.dimensions


@dataclass(frozen=True, slots=True)
class Drawn:
    """n facts: vectors of shape (n, 384), texts, and participants' numbers."""

    vectors: Vector
    texts: list[str]
    participants: NDArray[np.int64]


class Draw:
    """A source of facts and of queries like them."""

    def __init__(self, participants: int) -> None:
        self._random = np.random.default_rng(SEED)
        self._centres = self._random.standard_normal((CLUSTERS, DIMENSIONS))
        words = [w for w in VOCABULARY.read_text(encoding="utf-8").split("\n") if w.isalpha() and len(w) > 3]
        self._words = self._random.permutation(np.array(words))
        shares = 1 / np.arange(1, len(words) + 1)
        self._cumulated = np.cumsum(shares / shares.sum())
        self._participants = participants

    def facts(self, count: int) -> Drawn:
        """The next `count` facts."""
        centres = self._centres[self._random.integers(0, CLUSTERS, count)]
        vectors = normalise(centres + SPREAD * self._random.standard_normal((count, DIMENSIONS)))
        ranks = np.searchsorted(self._cumulated, self._random.random((count, WORDS)))
        texts = [" ".join(row) for row in self._words[np.minimum(ranks, len(self._words) - 1)]]
        return Drawn(vectors, texts, self._random.integers(0, self._participants, count))

    def batches(self, count: int) -> Iterator[Drawn]:
        """`count` facts in batches."""
        for start in range(0, count, BATCH):
            yield self.facts(min(BATCH, count - start))


def fill(url: str, draw: Draw, count: int) -> None:
    """Loads `count` facts into an empty `facts` table and builds the product's own indices again."""
    with psycopg.connect(url, autocommit=True) as conn:
        register_vector(conn)
        made = _definitions(conn)
        conn.execute(FACTS.unindex)
        conn.execute(FACTS.stage)
        _copy(conn, draw, count)
        conn.execute(FACTS.insert, {"model": MODEL})
        conn.execute("SET maintenance_work_mem = '2GB'")
        conn.execute("SET max_parallel_maintenance_workers = 1")
        for definition in made:
            conn.execute(definition.encode())
        for statement in index_statements(MODEL, DIMENSIONS) if count >= LEAST_FACTS else ():
            conn.execute(statement)
        conn.execute("VACUUM ANALYZE facts")


def _definitions(conn: psycopg.Connection) -> list[str]:
    rows = conn.execute("SELECT indexdef FROM pg_indexes WHERE indexname = ANY(%s)", [list(INDICES)]).fetchall()
    return [row[0] for row in rows]


def _copy(conn: psycopg.Connection, draw: Draw, count: int) -> None:
    number = 0
    with conn.cursor().copy(FACTS.copy) as copy:
        copy.set_types(["int4", "int4", "text", "halfvec"])
        for drawn in draw.batches(count):
            for vector, text, participant in zip(drawn.vectors, drawn.texts, drawn.participants.tolist(), strict=True):
                copy.write_row((number, participant, text, HalfVector(vector)))
                number += 1
