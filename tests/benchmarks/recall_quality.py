"""bench-recall-quality: finding the messages that hold the answer, without a model.

LoCoMo and support threads of our own lie in the product's tables, and are searched by what the layer of earlier threads
searches by. All sides run on the same messages and vectors in one run. For each conversation our weights are fitted on
the others only, of both sets.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np
import psycopg
from psycopg.rows import dict_row

from services.core.db.pool import Connection
from services.core.db.vectors import VectorTypes
from services.memory.embedding_cache import embed_cached
from services.memory.embeddings import Embedder, Vector
from services.memory.fusion import Scores, convex
from services.memory.multilingual import Multilingual
from services.memory.passages import PassageSettings, recall_passages, scored_passages
from services.memory.said import SETTINGS
from services.memory.signals import SAID_WEIGHTS, Passage, SignalWeights, signal_matrix, spread, weighed
from services.memory.temporal import window_of
from tests.benchmarks import locomo, mem0_side, support_threads
from tests.benchmarks.fitting import AT_ZERO, FALSE_PREMISE_WEIGHT, Example, fit
from tests.benchmarks.locomo import Conversation, Question
from tests.benchmarks.measured import Measured
from tests.benchmarks.recall_support import Options, migrated_database, run
from tests.benchmarks.retrieval import CUTS, mean_and_margin, ndcg_at, rank_fusion, recall_at, reciprocal_rank
from tests.benchmarks.said_index import SCOPE, Indexed, index_all, query_stems, stems

DEPTH = 50
QUICK_CONVERSATIONS = 2
TARGET = 80.0  # R@10, percent, on LoCoMo
TARGET_HOPS = 60.0  # R@10 of questions that need several turns, percent, on LoCoMo
TARGET_AHEAD = 3.0  # points of R@10 above convex fusion, on each set
TARGET_P95 = 50.0  # ms a search, the query's embedding apart
LOCOMO, SUPPORT = "LoCoMo", "support threads"
CATEGORIES = {LOCOMO: locomo.CATEGORIES, SUPPORT: support_threads.CATEGORY_NAMES}
HOPS = "multi-hop"
OURS = "correspondent (weights of the other conversations)"
SHIPPED = "correspondent (weights as shipped)"
CONVEX = "convex of the product's two lists"


@dataclass(frozen=True, slots=True)
class Asked:
    """A question put to one conversation: what the product scored, and which turns in that order."""

    of: str
    question: Question
    fold: int
    example: Example
    passages: Sequence[Passage]
    turns: list[int]
    dense: Scores
    lexical: Scores
    milliseconds: float

    def weighed(self, weights: SignalWeights) -> list[int]:
        """The turns as the layer puts them under some weights."""
        return self.ranked(spread(weighed(self.example.signals, weights), self.passages, SETTINGS.spread))

    def ranked(self, scores: Scores) -> list[int]:
        """The turns by scores of their passages, best first, each once."""
        return list(dict.fromkeys(self.turns[i] for i in np.argsort(-scores, kind="stable")))[:DEPTH]


def benchmark(options: Options) -> list[Measured]:
    """All lines; those of the support threads alone where LoCoMo is absent."""
    sets = {LOCOMO: locomo.load(options.data), SUPPORT: support_threads.conversations()}
    if not sets[LOCOMO]:
        print(f"skipped: no locomo/conversations.json under {options.data}")
    if options.quick:
        sets = {name: some[:QUICK_CONVERSATIONS] for name, some in sets.items()}
    with migrated_database() as url:
        return asyncio.run(_measure(url, sets))


async def _measure(url: str, sets: Mapping[str, Sequence[Conversation]]) -> list[Measured]:
    async with await psycopg.AsyncConnection.connect(url, autocommit=True, row_factory=dict_row) as conn:
        await VectorTypes().register(conn)
        embedder = Multilingual()
        every = [each for some in sets.values() for each in some]
        names = [name for name, some in sets.items() for _ in some]
        everything = await index_all(conn, embedder, every)
        asked = [each async for each in _ask_all(conn, everything, names)]
        sides = {
            "BM25 (rank-bm25, same stems)": await _bm25(conn, everything),
            "dense (the product's list)": [a.ranked(a.dense) for a in asked],
            "mem0 2.2 (pgvector, infer=False)": await _mem0(conn, url, embedder, everything),
            "RRF of the product's two lists": [a.ranked(rank_fusion(a.dense, a.lexical)) for a in asked],
            CONVEX: [a.ranked(convex(a.dense, a.lexical, 0.5)) for a in asked],
            SHIPPED: [a.weighed(SAID_WEIGHTS) for a in asked],
            OURS: _left_out(asked),
        }
    print("fitted on all, to be shipped:", _fitted(asked))
    found = {side: rankings for side, rankings in sides.items() if rankings}
    lines = [line for name in dict.fromkeys(names) for line in _of_set(name, asked, found)]
    p95 = float(np.percentile([a.milliseconds for a in asked], 95))
    return [*lines, Measured("search, p95", p95, "ms", TARGET_P95, p95 <= TARGET_P95, len(asked))]


async def _ask_all(conn: Connection, everything: Sequence[Indexed], names: Sequence[str]) -> AsyncIterator[Asked]:
    for indexed, name in zip(everything, names, strict=True):
        for put in zip(indexed.conversation.questions, indexed.question_vectors, indexed.own_words, strict=True):
            yield await _ask(conn, indexed, name, *put)


async def _ask(
    conn: Connection, indexed: Indexed, of: str, question: Question, vector: Vector, own: Vector | None
) -> Asked:
    window = window_of(question.text, indexed.conversation.turns[-1].at)
    given: dict[str, Any] = {
        "scope": SCOPE,
        "parameters": indexed.parameters,
        "query_text": question.text,
        "query_vector": vector,
    }
    began = perf_counter()
    await recall_passages(conn, **given, window=window, limit=10, own_words=own, settings=SETTINGS)
    took = (perf_counter() - began) * 1000
    passages = await scored_passages(
        conn, SCOPE, indexed.parameters, question.text, vector, PassageSettings().candidates, own
    )
    turns = [indexed.turn_of[p.id] for p in passages]
    relevant = {place for place, turn in enumerate(turns) if turn in question.evidence}
    return Asked(
        of,
        question,
        indexed.number,
        Example(signal_matrix(passages, question.text, window), relevant, _weight(question)),
        passages,
        turns,
        np.array([p.similarity for p in passages], dtype=np.float64),
        np.array([p.lexical for p in passages]),
        took,
    )


def _weight(question: Question) -> float:
    return FALSE_PREMISE_WEIGHT if question.category == locomo.FALSE_PREMISE else 1.0


def _fitted(asked: Sequence[Asked], without: int | None = None) -> SignalWeights:
    """The weights from all conversations but one."""
    return fit([a.example for a in asked if a.fold != without and a.example.relevant], at_zero=AT_ZERO)


def _left_out(asked: Sequence[Asked]) -> list[list[int]]:
    """Each question ranked with weights that never saw its conversation."""
    weights = {fold: _fitted(asked, without=fold) for fold in {a.fold for a in asked}}
    return [a.weighed(weights[a.fold]) for a in asked]


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


async def _mem0(conn: Connection, url: str, embedder: Embedder, everything: Sequence[Indexed]) -> list[list[int]]:
    if not mem0_side.is_installed():
        print("skipped: mem0 is not installed (requirements/bench.txt)")
        return []
    vectors: dict[str, Vector] = {}
    for indexed in everything:
        texts = [turn.text for turn in indexed.conversation.turns]
        vectors |= dict(zip(texts, await embed_cached(conn, embedder, texts), strict=True))
        vectors |= dict(zip((q.text for q in indexed.conversation.questions), indexed.question_vectors, strict=True))
    memory = mem0_side.Mem0(url, vectors.__getitem__)
    for indexed in everything:
        for number, turn in enumerate(indexed.conversation.turns):
            memory.add(str(indexed.number), turn.text, number)
    return [memory.numbers(str(i.number), q.text, DEPTH) for i in everything for q in i.conversation.questions]


def _of_set(name: str, asked: Sequence[Asked], sides: Mapping[str, Sequence[list[int]]]) -> list[Measured]:
    places = [place for place, a in enumerate(asked) if a.of == name]
    questions = [asked[place].question for place in places]
    ranked = {side: [rankings[place] for place in places] for side, rankings in sides.items()}
    lines = [line for side, rankings in ranked.items() for line in _of_side(name, side, questions, rankings)]
    ours, other = (_recall(questions, ranked[side]) for side in (OURS, CONVEX))
    both = {"correspondent": ours, "convex": other}
    ahead = ours - other
    return [
        *lines,
        Measured(f"{name}: R@10 above convex", ahead, "points", TARGET_AHEAD, ahead >= TARGET_AHEAD, len(places), both),
    ]


def _recall(questions: Sequence[Question], rankings: Sequence[list[int]]) -> float:
    return float(np.mean([100 * recall_at(r, q.evidence, 10) for r, q in zip(rankings, questions, strict=True)]))


def _of_side(name: str, side: str, questions: Sequence[Question], rankings: Sequence[list[int]]) -> Iterator[Measured]:
    pairs = list(zip(rankings, (q.evidence for q in questions), strict=True))
    for k in CUTS:
        mean, margin = mean_and_margin([100 * recall_at(r, e, k) for r, e in pairs])
        target = TARGET if name == LOCOMO and side == OURS and k == 10 else None
        met = mean >= target if target else None
        yield Measured(f"{name}, {side}: R@{k} ± {margin:.1f}", mean, "%", target, met, len(pairs))
    yield Measured(f"{name}, {side}: MRR", float(np.mean([reciprocal_rank(r, e) for r, e in pairs])), "", n=len(pairs))
    ndcg = float(np.mean([ndcg_at(r, e, 10) for r, e in pairs]))
    yield Measured(f"{name}, {side}: nDCG@10", ndcg, "", n=len(pairs))
    for category, kind in CATEGORIES[name].items():
        some = [100 * recall_at(r, e, 10) for (r, e), q in zip(pairs, questions, strict=True) if q.category == category]
        if some:
            mean = float(np.mean(some))
            target = TARGET_HOPS if kind == HOPS and side == OURS else None
            met = mean >= target if target else None
            yield Measured(f"{name}, {side}: R@10, {kind}", mean, "%", target, met, len(some))


if __name__ == "__main__":
    sys.exit(run("recall_quality", benchmark))
