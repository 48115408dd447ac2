"""bench-recall-quality: finding the turns of LoCoMo that hold the answer, without a model.

All sides run on the same conversations and vectors in one run. Ours goes through the product's own
`scored_passages` and `signal_matrix`; for each conversation its weights are fitted on the others only.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass
from time import perf_counter

import numpy as np
import psycopg
from psycopg.rows import dict_row

from services.core.db.pool import Connection
from services.core.db.vectors import VectorTypes
from services.memory.embeddings import MiniLM, Vector
from services.memory.fusion import Scores, convex
from services.memory.passages import PassageSettings, scored_passages, search_passages
from services.memory.signals import SignalWeights, signal_matrix, weighed
from tests.benchmarks import mem0_side
from tests.benchmarks.fitting import Example, fit
from tests.benchmarks.locomo import CATEGORIES, Conversation, Question, load
from tests.benchmarks.locomo_index import SCOPE, Indexed, dense, index_all, query_stems, stems
from tests.benchmarks.measured import Measured
from tests.benchmarks.recall_support import Options, migrated_database, run
from tests.benchmarks.retrieval import CUTS, mean_and_margin, ndcg_at, rank_fusion, recall_at, reciprocal_rank

DEPTH = 50
QUICK_CONVERSATIONS = 2
TARGET = 75.0  # R@10, percent
TARGET_P95 = 50.0  # ms a search, the query's embedding apart
OURS = "correspondent (weights of the other conversations)"
SHIPPED = "correspondent (weights as shipped)"


@dataclass(frozen=True, slots=True)
class Asked:
    """A question put to one conversation: what the product scored, and which turns in that order."""

    question: Question
    fold: int
    example: Example
    turns: list[int]
    dense: Scores
    lexical: Scores
    milliseconds: float

    def ranked(self, scores: Scores) -> list[int]:
        """The turns by scores, best first."""
        return [self.turns[i] for i in np.argsort(-scores, kind="stable")[:DEPTH]]


def benchmark(options: Options) -> list[Measured]:
    """All lines; none where LoCoMo is absent."""
    conversations = load(options.data)[: QUICK_CONVERSATIONS if options.quick else None]
    if not conversations:
        print(f"skipped: no locomo/conversations.json under {options.data}")
        return []
    with migrated_database() as url:
        return asyncio.run(_measure(url, conversations))


async def _measure(url: str, conversations: Sequence[Conversation]) -> list[Measured]:
    async with await psycopg.AsyncConnection.connect(url, autocommit=True, row_factory=dict_row) as conn:
        await VectorTypes().register(conn)
        everything = await index_all(conn, MiniLM(), conversations)
        asked = [each async for each in _ask_all(conn, everything)]
        sides = {
            "BM25 (rank-bm25, same stems)": await _bm25(conn, everything),
            "dense (pgvector)": await _dense(conn, everything),
            "mem0 2.2 (pgvector, infer=False)": _mem0(url, everything),
            "RRF of the product's two lists": [a.ranked(rank_fusion(a.dense, a.lexical)) for a in asked],
            "convex of the product's two lists": [a.ranked(convex(a.dense, a.lexical, 0.5)) for a in asked],
            SHIPPED: [a.ranked(weighed(a.example.signals, SignalWeights())) for a in asked],
            OURS: _left_out(asked),
        }
    print("fitted on all, to be shipped:", _fitted(asked))
    return _lines([a.question for a in asked], {k: v for k, v in sides.items() if v}, [a.milliseconds for a in asked])


async def _ask_all(conn: Connection, everything: Sequence[Indexed]) -> AsyncIterator[Asked]:
    for indexed in everything:
        for question, vector in zip(indexed.conversation.questions, indexed.question_vectors, strict=True):
            yield await _ask(conn, indexed, question, vector)


async def _ask(conn: Connection, indexed: Indexed, question: Question, vector: Vector) -> Asked:
    began = perf_counter()
    await search_passages(
        conn, scope=SCOPE, parameters=indexed.parameters, query_text=question.text, query_vector=vector, limit=10
    )
    took = (perf_counter() - began) * 1000
    passages = await scored_passages(
        conn, SCOPE, indexed.parameters, question.text, vector, PassageSettings().candidates
    )
    turns = [indexed.turn_of[p.id] for p in passages]
    relevant = {place for place, turn in enumerate(turns) if turn in question.evidence}
    return Asked(
        question,
        indexed.number,
        Example(signal_matrix(passages, question.text), relevant),
        turns,
        np.array([p.similarity for p in passages], dtype=np.float64),
        np.array([p.lexical for p in passages]),
        took,
    )


def _fitted(asked: Sequence[Asked], without: int | None = None) -> SignalWeights:
    """The weights from all conversations but one."""
    return fit([a.example for a in asked if a.fold != without and a.example.relevant])


def _left_out(asked: Sequence[Asked]) -> list[list[int]]:
    """Each question ranked with weights that never saw its conversation."""
    weights = {fold: _fitted(asked, without=fold) for fold in {a.fold for a in asked}}
    return [a.ranked(weighed(a.example.signals, weights[a.fold])) for a in asked]


async def _dense(conn: Connection, everything: Sequence[Indexed]) -> list[list[int]]:
    return [await dense(conn, indexed, vector, DEPTH) for indexed in everything for vector in indexed.question_vectors]


async def _bm25(conn: Connection, everything: Sequence[Indexed]) -> list[list[int]]:
    try:
        from rank_bm25 import BM25Okapi
    except ImportError:
        print("skipped: BM25, rank-bm25 is not installed (requirements/bench.txt)")
        return []
    rankings = []
    for indexed in everything:
        index = BM25Okapi(await stems(conn, indexed))
        for question in indexed.conversation.questions:
            scores = index.get_scores(await query_stems(conn, question.text))
            rankings.append(np.argsort(-scores, kind="stable")[:DEPTH].tolist())
    return rankings


def _mem0(url: str, everything: Sequence[Indexed]) -> list[list[int]]:
    if not mem0_side.is_installed():
        print("skipped: mem0 is not installed (requirements/bench.txt)")
        return []
    vectors = {}
    for indexed in everything:
        vectors |= dict(zip((t.said for t in indexed.conversation.turns), indexed.turn_vectors, strict=True))
        vectors |= dict(zip((q.text for q in indexed.conversation.questions), indexed.question_vectors, strict=True))
    memory = mem0_side.Mem0(url, vectors.__getitem__)
    for indexed in everything:
        for number, turn in enumerate(indexed.conversation.turns):
            memory.add(str(indexed.number), turn.said, number)
    return [memory.numbers(str(i.number), q.text, DEPTH) for i in everything for q in i.conversation.questions]


def _lines(questions: Sequence[Question], sides: dict[str, list[list[int]]], times: Sequence[float]) -> list[Measured]:
    lines = [line for side, rankings in sides.items() for line in _of_side(side, questions, rankings)]
    p95 = float(np.percentile(times, 95))
    return [*lines, Measured("search, p95", p95, "ms", TARGET_P95, p95 <= TARGET_P95, len(times))]


def _of_side(side: str, questions: Sequence[Question], rankings: Sequence[list[int]]) -> Iterator[Measured]:
    pairs = list(zip(rankings, (q.evidence for q in questions), strict=True))
    for k in CUTS:
        mean, margin = mean_and_margin([100 * recall_at(r, e, k) for r, e in pairs])
        aimed = side == OURS and k == 10
        yield Measured(
            f"{side}: R@{k} ± {margin:.1f}",
            mean,
            "%",
            TARGET if aimed else None,
            mean >= TARGET if aimed else None,
            len(pairs),
        )
    yield Measured(f"{side}: MRR", float(np.mean([reciprocal_rank(r, e) for r, e in pairs])), "", n=len(pairs))
    yield Measured(f"{side}: nDCG@10", float(np.mean([ndcg_at(r, e, 10) for r, e in pairs])), "", n=len(pairs))
    for category, name in CATEGORIES.items():
        some = [100 * recall_at(r, e, 10) for (r, e), q in zip(pairs, questions, strict=True) if q.category == category]
        if some:
            yield Measured(f"{side}: R@10, {name}", float(np.mean(some)), "%", n=len(some))


if __name__ == "__main__":
    sys.exit(run("recall_quality", benchmark))
