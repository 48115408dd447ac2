"""bench-knowledge-rank: is the passage that answers a customer's question found first?

Fifty questions in customers' words to eight documents of an invented company (`knowledge_pairs/`, text of our own),
each with the one passage that answers it. The product's search stands beside its two halves alone, beside reciprocal
rank fusion of them, and beside the weights that are fitted on conversations.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import yaml
from numpy.typing import NDArray
from psycopg.sql import SQL

from services.core.app import App
from services.memory.embedding_cache import embed_cached
from services.memory.embeddings import Meaning
from services.memory.knowledge import KNOWLEDGE, search_knowledge
from services.memory.passages import PassageSettings, scored_passages
from services.memory.signals import SIGNALS, SignalWeights, signal_matrix, weighed
from services.operations.idle import until_idle
from tests.benchmarks.measured import Measured, at_least
from tests.benchmarks.recall_support import Options, run
from tests.benchmarks.retrieval import rank_fusion, recall_at, reciprocal_rank
from tests.benchmarks.stage import bench_app
from tests.support.documents import shelve

PAIRS = Path(__file__).with_name("knowledge_pairs")
OURS = "correspondent"
CUTS = (1, 3, 6)  # 6 passages are what a prompt holds
TARGET = 95.0  # % of the questions whose passage is in the prompt


@dataclass(frozen=True, slots=True)
class Pair:
    """A question, and the passage that answers it: its document and its last heading."""

    question: str
    document: str
    heading: str


@dataclass(frozen=True, slots=True)
class Ranked:
    """A question with the rank (0 = first) of every passage, by side."""

    pair: Pair
    answer: int
    by_side: dict[str, list[int]]


def pairs() -> list[Pair]:
    """Every question."""
    return [Pair(*one) for one in yaml.safe_load((PAIRS / "questions.yaml").read_text(encoding="utf-8"))]


async def shelve_all(app: App) -> None:
    """Hand the documents in."""
    for path in sorted((PAIRS / "documents").glob("*.md")):
        await shelve(app, path.name, path.read_text(encoding="utf-8"))


async def rankings(app: App) -> list[Ranked]:
    """Each question put to every side, over passages that were indexed before."""
    return [await _put(app, pair) for pair in pairs()]


def share_at(found: Sequence[Ranked], side: str, k: int) -> float:
    """The share, in %, of questions whose passage is among the first k."""
    return 100 * float(np.mean([recall_at(one.by_side[side], {one.answer}, k) for one in found]))


async def _put(app: App, pair: Pair) -> Ranked:
    workspace = app.settings.workspace
    async with app.database.reading() as conn:
        (vector,) = await embed_cached(conn, app.embedder, [pair.question])
        meaning = Meaning(app.embedder.name, vector)
        values = {"workspace": workspace, "space": "", "as_of": None, "model": meaning.model}
        given = (SQL(KNOWLEDGE.current), values, pair.question, vector)
        passages = await scored_passages(conn, *given, PassageSettings().candidates)
        found = await search_knowledge(
            conn, workspace=workspace, space="", query_text=pair.question, meaning=meaning, limit=len(passages)
        )
    places = {one.id: number for number, one in enumerate(passages)}
    answer = next(places[one.chunk_id] for one in found if (one.origin, _last(one.heading)) == _name(pair))
    matrix = signal_matrix(passages, pair.question)
    words, dense = matrix[:, SIGNALS.index("lexical")], matrix[:, SIGNALS.index("dense")]
    sides = {
        "words alone": words,
        "meaning alone": dense,
        "rank fusion": rank_fusion(words, dense),
        "weights of conversations": weighed(matrix, SignalWeights()),
    }
    ours = {OURS: [places[one.chunk_id] for one in found]}
    return Ranked(pair, answer, ours | {side: _best_first(scores) for side, scores in sides.items()})


def _name(pair: Pair) -> tuple[str, str]:
    return f"{pair.document}.md", pair.heading


def _last(heading: str) -> str:
    return heading.rpartition(" > ")[2]


def _best_first(scores: NDArray[np.float64]) -> list[int]:
    order: list[int] = np.argsort(-scores, kind="stable").tolist()
    return order


async def _measure() -> list[Measured]:
    async with bench_app() as app:
        await shelve_all(app)
        await until_idle(app)
        found = await rankings(app)
    lines = []
    for side in found[0].by_side:
        for k in CUTS:
            share = share_at(found, side, k)
            name = f"{side}: passage among the first {k}"
            aimed = side == OURS and k == max(CUTS)
            lines.append(
                at_least(name, share, "%", TARGET, len(found)) if aimed else Measured(name, share, "%", n=len(found))
            )
        mrr = float(np.mean([reciprocal_rank(one.by_side[side], {one.answer}) for one in found]))
        lines.append(Measured(f"{side}: MRR", mrr, "", n=len(found)))
    return lines


def benchmark(options: Options) -> list[Measured]:
    """The lines of every side."""
    return asyncio.run(_measure())


if __name__ == "__main__":
    sys.exit(run("knowledge_rank", benchmark))
