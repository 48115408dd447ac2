"""bench-recall-latency: searching facts at 1k, 10k, 100k and 1M rows, the query's embedding apart.

Vectors and texts are synthetic (`synthetic_facts`), a participant has about 1,000 facts; the code, the
indices and the server's settings are the product's own. `--quick` stops at 10k.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from time import perf_counter
from uuid import UUID

import numpy as np
import psycopg
from pgvector import HalfVector
from psycopg.rows import dict_row, tuple_row

from services.core.cache import Cache
from services.core.db.pool import Connection
from services.core.db.vectors import VectorTypes
from services.memory.embeddings import Meaning, MiniLM, Vector
from services.memory.search import Hit, SearchSettings, search_facts
from tests.benchmarks.measured import Measured, at_least, at_most
from tests.benchmarks.recall_support import Options, embedded, migrated_database, run
from tests.benchmarks.synthetic_facts import FACTS, MODEL, Draw, Drawn, fill

SIZES = (1_000, 10_000, 100_000, 1_000_000)
QUICK_SIZES = SIZES[:2]
PER_PARTICIPANT = 1_000
QUERIES = 200
EXACT_QUERIES = 30
WARM_UP = 50
DEPTH = 10
NOW = datetime(2026, 1, 2, tzinfo=UTC)
TARGETS = {"participant": 10.0, "workspace, vectors only": 25.0, "workspace, hybrid": 60.0}  # ms, p95, at 1M
TARGET_RECALL = 0.95


def benchmark(options: Options) -> list[Measured]:
    """All lines; needs no data that is not ours."""
    lines = [_embedding(), _brief()]
    for size in QUICK_SIZES if options.quick else SIZES:
        draw = Draw(max(1, size // PER_PARTICIPANT))
        with migrated_database() as url:
            fill(url, draw, size)
            lines += asyncio.run(_measure(url, size, draw.facts(QUERIES)))
    return lines


def _embedding() -> Measured:
    embedder, times = MiniLM(), []
    for number in range(WARM_UP + QUERIES):
        began = perf_counter()
        embedder.embed_now([f"What did I say about order {number} last month?"])
        times.append((perf_counter() - began) * 1000)
    return Measured("embedding a query, p50", float(np.median(times[WARM_UP:])), "ms", n=QUERIES)


def _brief() -> Measured:
    """Reading a brief of 500 words through the product's cache."""
    with embedded() as endpoints:
        times = asyncio.run(_read_brief(endpoints.redis))
    return at_most("relationship brief from the cache: p95", float(np.percentile(times, 95)), "ms", 1.0, len(times))


async def _read_brief(url: str) -> list[float]:
    cache, times = Cache(url), []
    await cache.put("brief", "a word or two " * 125, seconds=60)
    for _ in range(WARM_UP + QUERIES):
        began = perf_counter()
        assert await cache.get("brief")
        times.append((perf_counter() - began) * 1000)
    await cache.close()
    return times[WARM_UP:]


async def _measure(url: str, size: int, drawn: Drawn) -> list[Measured]:
    async with await psycopg.AsyncConnection.connect(url, autocommit=True, row_factory=dict_row) as conn:
        await VectorTypes().register(conn)
        participants = [await _participant(conn, number) for number in drawn.participants.tolist()]
        lines = []
        for kind in TARGETS:
            times = [await _timed(conn, kind, drawn, n, participants[n]) for n in [*range(WARM_UP), *range(QUERIES)]]
            lines += _lines(kind, size, times[WARM_UP:])
        recall = float(np.mean([await _recall(conn, vector) for vector in drawn.vectors[:EXACT_QUERIES]]))
        name = f"{size:,} facts, workspace: recall@{DEPTH} of the exact nearest"
        return [*lines, at_least(name, recall, "", TARGET_RECALL, EXACT_QUERIES)]


async def _timed(conn: Connection, kind: str, drawn: Drawn, number: int, participant: UUID) -> float:
    text = "" if "vectors only" in kind else " ".join(drawn.texts[number].split()[:6])
    began = perf_counter()
    await _search(conn, text, drawn.vectors[number], participant if kind == "participant" else None)
    return (perf_counter() - began) * 1000


async def _search(
    conn: Connection, text: str, vector: Vector, participant: UUID | None, limit: int = DEPTH
) -> list[Hit]:
    meaning = Meaning(MODEL, vector)
    return await search_facts(
        conn, workspace="w", participant_id=participant, query_text=text, meaning=meaning, now=NOW, limit=limit
    )


async def _recall(conn: Connection, vector: Vector) -> float:
    """The share of the exact nearest that the workspace search brings in, before it weighs them."""
    values = {"vector": HalfVector(vector), "limit": DEPTH}
    async with conn.transaction(), conn.cursor(row_factory=tuple_row) as cursor:
        await cursor.execute("SET LOCAL enable_indexscan = off")
        exact = {row[0] for row in await (await cursor.execute(FACTS.nearest, values)).fetchall()}
    hits = await _search(conn, "", vector, None, SearchSettings().candidates)
    return len(exact & {hit.fact.fact_id for hit in hits}) / len(exact)


async def _participant(conn: Connection, number: int) -> UUID:
    async with conn.cursor(row_factory=tuple_row) as cursor:
        row = await (await cursor.execute(FACTS.participant, {"number": number})).fetchone()
    assert row is not None
    identity: UUID = row[0]
    return identity


def _lines(kind: str, size: int, times: Sequence[float]) -> list[Measured]:
    p50, p95 = (float(np.percentile(times, share)) for share in (50, 95))
    name = f"{size:,} facts, {kind}"
    return [
        Measured(f"{name}: p50", p50, "ms", n=len(times)),
        at_most(f"{name}: p95", p95, "ms", TARGETS[kind], len(times)),
    ]


if __name__ == "__main__":
    sys.exit(run("recall_latency", benchmark))
