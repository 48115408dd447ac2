"""bench-recall-cue: does the memory know what it does not know?

Two figures, both on conversations whose questions the judgements were not fitted on: questions of another
conversation (unrelated), and LoCoMo's category 5 (false premises), each against the questions that the
conversation answers. A side that always returns its top k tells nothing; its best score is the baseline.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import psycopg
from numpy.typing import NDArray
from psycopg.rows import dict_row

from services.core.db.pool import Connection
from services.memory.cue import (
    CueSettings,
    Evidence,
    agrees_features,
    judged,
    passage_evidence,
    related_features,
)
from services.memory.embeddings import MiniLM, Vector
from services.memory.passages import PassageSettings, scored_passages
from services.memory.signals import Passage, SignalWeights, signal_matrix
from tests.benchmarks import fact_cue
from tests.benchmarks.fitting import Example, fit, fit_logistic
from tests.benchmarks.locomo import FALSE_PREMISE, Conversation, Question, load
from tests.benchmarks.locomo_index import SCOPE, Indexed, index_all
from tests.benchmarks.measured import Measured
from tests.benchmarks.recall_support import Options, migrated_database, run
from tests.benchmarks.retrieval import auroc

T = TypeVar("T")

QUICK_CONVERSATIONS = 2
UNRELATED, FALSE, ANSWERED = "unrelated", "false premise", "answered"
TARGETS = {UNRELATED: 0.95, FALSE: 0.75}


@dataclass(frozen=True, slots=True)
class Put:
    """A question put to a conversation: what the product scored, and what the truth is."""

    kind: str
    fold: int
    question: Question
    passages: list[Passage]
    matrix: NDArray[np.float64]
    relevant: frozenset[int]


@dataclass(frozen=True, slots=True)
class Judged:
    """Its evidence and verdict by what was fitted on the other conversations."""

    kind: str
    evidence: Evidence
    related: float
    agrees: float
    verdict: str


def benchmark(options: Options) -> list[Measured]:
    """All lines; those of facts alone where LoCoMo is absent."""
    with migrated_database() as url:
        facts = asyncio.run(fact_cue.measure(url))
    conversations = load(options.data)[: QUICK_CONVERSATIONS if options.quick else None]
    if len(conversations) < 2:
        print(f"skipped: no two conversations in locomo/conversations.json under {options.data}")
        return facts
    with migrated_database() as url:
        puts = asyncio.run(_put_all(url, conversations))
    judgements = [each for fold in range(len(conversations)) for each in _judge(puts, fold)]
    print("fitted on all, to be shipped:", _models(puts, _evidences(puts, _weights(puts))))
    return [*_separation(judgements), *_verdicts(judgements), *facts]


async def _put_all(url: str, conversations: Sequence[Conversation]) -> list[Put]:
    async with await psycopg.AsyncConnection.connect(url, autocommit=True, row_factory=dict_row) as conn:
        everything = await index_all(conn, MiniLM(), conversations)
        puts = []
        for number, indexed in enumerate(everything):
            for question, vector in zip(indexed.conversation.questions, indexed.question_vectors, strict=True):
                kind = FALSE if question.category == FALSE_PREMISE else ANSWERED
                puts.append(await _put(conn, indexed, question, vector, kind))
            other = everything[(number + 1) % len(everything)]
            for question, vector in zip(other.conversation.questions, other.question_vectors, strict=True):
                puts.append(await _put(conn, indexed, question, vector, UNRELATED))
        return puts


async def _put(conn: Connection, indexed: Indexed, question: Question, vector: Vector, kind: str) -> Put:
    passages = await scored_passages(
        conn, SCOPE, indexed.parameters, question.text, vector, PassageSettings().candidates
    )
    evidence = question.evidence if kind != UNRELATED else frozenset()
    relevant = frozenset(place for place, p in enumerate(passages) if indexed.turn_of[p.id] in evidence)
    return Put(kind, indexed.number, question, passages, signal_matrix(passages, question.text), relevant)


def _judge(puts: Sequence[Put], fold: int) -> list[Judged]:
    """The questions put to one conversation, judged by models that know only the questions put to the others."""
    others, here = [p for p in puts if p.fold != fold], [p for p in puts if p.fold == fold]
    weights = _weights(others)
    settings = _models(others, _evidences(others, weights))
    result = []
    for put, evidence in zip(here, _evidences(here, weights), strict=True):
        cue = judged(evidence, settings)
        result.append(Judged(put.kind, evidence, cue.related, cue.agrees, cue.verdict))
    return result


def _weights(puts: Sequence[Put]) -> SignalWeights:
    return fit([Example(p.matrix, p.relevant) for p in puts if p.relevant])


def _evidences(puts: Sequence[Put], weights: SignalWeights) -> list[Evidence]:
    return [passage_evidence(p.passages, p.matrix, p.question.text, weights) for p in puts]


def _models(puts: Sequence[Put], evidences: Sequence[Evidence]) -> CueSettings:
    of = _by_kind(list(zip(puts, evidences, strict=True)), lambda pair: pair[0].kind)
    related = [[related_features(e) for _, e in of[kind]] for kind in (ANSWERED, UNRELATED)]
    agrees = [[agrees_features(e) for _, e in of[kind] if e.margin is not None] for kind in (ANSWERED, FALSE)]
    return CueSettings(fit_logistic(*related), fit_logistic(*agrees))


def _by_kind(items: Sequence[T], kind_of: Callable[[T], str]) -> dict[str, list[T]]:
    return {kind: [item for item in items if kind_of(item) == kind] for kind in (ANSWERED, FALSE, UNRELATED)}


def _separation(judgements: Sequence[Judged]) -> list[Measured]:
    of = _by_kind(judgements, lambda judgement: judgement.kind)
    lines = []
    for kind, score in ((UNRELATED, lambda j: j.related), (FALSE, lambda j: j.agrees)):
        ours = auroc([score(j) for j in of[ANSWERED]], [score(j) for j in of[kind]])
        cosine = auroc([j.evidence.similarity for j in of[ANSWERED]], [j.evidence.similarity for j in of[kind]])
        target = TARGETS[kind]
        sides = {"correspondent": ours, "best cosine": cosine}
        lines.append(Measured(f"{kind}: AUROC", ours, "", target, ours >= target, len(of[kind]), sides))
        lines.append(Measured(f"{kind}: AUROC of the best cosine", cosine, "", n=len(of[kind])))
    return lines


def _verdicts(judgements: Sequence[Judged]) -> list[Measured]:
    lines = []
    for kind in (ANSWERED, FALSE, UNRELATED):
        some = [j.verdict for j in judgements if j.kind == kind]
        for verdict in ("sure", "rings a bell", "nothing"):
            share = 100 * some.count(verdict) / len(some)
            lines.append(Measured(f"{kind}: verdict {verdict}", share, "%", n=len(some)))
    return lines


if __name__ == "__main__":
    sys.exit(run("recall_cue", benchmark))
