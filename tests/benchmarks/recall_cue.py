"""bench-recall-cue: does the memory know what it does not know?

LoCoMo and our support threads lie in the product's tables and are searched by what the layer of earlier threads searches
by; each question is judged by weights and judgements that were fitted on the other conversations. `sure` has to mean
that the evidence is among the first five. It must not be said of questions of another conversation (unrelated), nor of
LoCoMo's category 5 (false premises). A side that always returns its top k tells nothing; its best score is the baseline.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import psycopg
from numpy.typing import NDArray
from psycopg.rows import dict_row

from services.core.db.pool import Connection
from services.core.db.vectors import VectorTypes
from services.memory.cue import (
    TOP,
    CueSettings,
    Evidence,
    agrees_features,
    judged,
    passage_evidence,
    related_features,
)
from services.memory.embeddings import Vector
from services.memory.multilingual import Multilingual
from services.memory.passages import scored_passages
from services.memory.said import SETTINGS
from services.memory.signals import Passage, SignalWeights, signal_matrix, spread, weighed
from services.memory.temporal import window_of
from tests.benchmarks import fact_cue, support_threads
from tests.benchmarks.fitting import AT_ZERO, FALSE_PREMISE_WEIGHT, Example, fit, fit_logistic
from tests.benchmarks.locomo import FALSE_PREMISE, Conversation, Question, load
from tests.benchmarks.measured import Measured, at_least, at_most
from tests.benchmarks.recall_support import Options, migrated_database, run
from tests.benchmarks.retrieval import auroc
from tests.benchmarks.said_index import SCOPE, Indexed, in_own_words, index_all

T = TypeVar("T")

QUICK_CONVERSATIONS = 2
UNRELATED, FALSE, ANSWERED, SUPPORT = "unrelated", "false premise", "answered", "support threads"
KINDS = (ANSWERED, SUPPORT, FALSE, UNRELATED)
TARGETS = {UNRELATED: 0.95, FALSE: 0.75}
TARGET_HELD = 95.0  # percent of those that are sure, with the evidence among the first five
MOST_SURE = {FALSE: 5.0, UNRELATED: 2.0}  # percent


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
    found: bool
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
    support = support_threads.conversations()[: QUICK_CONVERSATIONS if options.quick else None]
    with migrated_database() as url:
        puts = asyncio.run(_put_all(url, conversations, support))
    judgements = [each for fold in sorted({put.fold for put in puts}) for each in _judge(puts, fold)]
    print("fitted on all, with the weights as shipped:", _models(puts, [_evidence(p, SETTINGS.weights) for p in puts]))
    return [*_separation(judgements), *_held(judgements), *_verdicts(judgements), *facts]


async def _put_all(url: str, locomo: Sequence[Conversation], support: Sequence[Conversation]) -> list[Put]:
    async with await psycopg.AsyncConnection.connect(url, autocommit=True, row_factory=dict_row) as conn:
        await VectorTypes().register(conn)
        embedder = Multilingual()
        everything = await index_all(conn, embedder, [*locomo, *support])
        puts = []
        for number, indexed in enumerate(everything):
            for question, vector, own in _questions(indexed, indexed.own_words):
                kind = FALSE if question.category == FALSE_PREMISE else ANSWERED
                kind = kind if number < len(locomo) else SUPPORT
                puts.append(await _put(conn, indexed, question, vector, own, kind))
            if number < len(locomo):
                other = everything[(number + 1) % len(locomo)]
                reworded = await in_own_words(embedder, other.conversation, indexed.names)
                for question, vector, own in _questions(other, reworded):
                    puts.append(await _put(conn, indexed, question, vector, own, UNRELATED))
        return puts


def _questions(
    indexed: Indexed, own_words: Sequence[Vector | None]
) -> Iterator[tuple[Question, Vector, Vector | None]]:
    return zip(indexed.conversation.questions, indexed.question_vectors, own_words, strict=True)


async def _put(
    conn: Connection, indexed: Indexed, question: Question, vector: Vector, own: Vector | None, kind: str
) -> Put:
    window = window_of(question.text, indexed.conversation.turns[-1].at)
    passages = await scored_passages(conn, SCOPE, indexed.parameters, question.text, vector, SETTINGS.candidates, own)
    evidence = question.evidence if kind != UNRELATED else frozenset()
    relevant = frozenset(place for place, p in enumerate(passages) if indexed.turn_of[p.id] in evidence)
    return Put(kind, indexed.number, question, passages, signal_matrix(passages, question.text, window), relevant)


def _judge(puts: Sequence[Put], fold: int) -> list[Judged]:
    """The questions put to one conversation, judged by models that know only the questions put to the others."""
    others, here = [p for p in puts if p.fold != fold], [p for p in puts if p.fold == fold]
    weights = fit([_example(put) for put in others if put.relevant], at_zero=AT_ZERO)
    settings = _models(others, [_evidence(p, weights) for p in others])
    result = []
    for put in here:
        evidence = _evidence(put, weights)
        cue = judged(evidence, settings)
        found = bool(put.relevant & set(_order(put, weights)[:TOP].tolist()))
        result.append(Judged(put.kind, evidence, found, cue.related, cue.agrees, cue.verdict))
    return result


def _example(put: Put) -> Example:
    return Example(put.matrix, put.relevant, FALSE_PREMISE_WEIGHT if put.kind == FALSE else 1.0)


def _order(put: Put, weights: SignalWeights) -> NDArray[np.int64]:
    return np.argsort(-spread(weighed(put.matrix, weights), put.passages, SETTINGS.spread), kind="stable")


def _evidence(put: Put, weights: SignalWeights) -> Evidence:
    return passage_evidence(put.passages, put.matrix, put.question.text, weights, _order(put, weights))


def _models(puts: Sequence[Put], evidences: Sequence[Evidence]) -> CueSettings:
    of = _by_kind(list(zip(puts, evidences, strict=True)), lambda pair: pair[0].kind)
    related = [[related_features(e) for _, e in of[kind]] for kind in (ANSWERED, UNRELATED)]
    agrees = [[agrees_features(e) for _, e in of[kind] if e.margin is not None] for kind in (ANSWERED, FALSE)]
    return CueSettings(fit_logistic(*related), fit_logistic(*agrees))


def _by_kind(items: Sequence[T], kind_of: Callable[[T], str]) -> dict[str, list[T]]:
    return {kind: [item for item in items if kind_of(item) == kind] for kind in KINDS}


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


def _held(judgements: Sequence[Judged]) -> list[Measured]:
    """Of those that are sure, how many have their evidence among the first five."""
    lines = []
    for kinds in ((ANSWERED, SUPPORT), (ANSWERED,), (SUPPORT,)):
        sure = [j.found for j in judgements if j.kind in kinds and j.verdict == "sure"]
        if sure:
            name = f"{' and '.join(kinds)}: sure, evidence among the first five"
            lines.append(at_least(name, 100 * sum(sure) / len(sure), "%", TARGET_HELD, len(sure)))
    return lines


def _verdicts(judgements: Sequence[Judged]) -> list[Measured]:
    lines = []
    for kind in KINDS:
        some = [j.verdict for j in judgements if j.kind == kind]
        for verdict in ("sure", "rings a bell", "nothing"):
            name, share = f"{kind}: verdict {verdict}", 100 * some.count(verdict) / len(some)
            bounded = verdict == "sure" and kind in MOST_SURE
            plain = Measured(name, share, "%", n=len(some))
            lines.append(at_most(name, share, "%", MOST_SURE[kind], len(some)) if bounded else plain)
    return lines


if __name__ == "__main__":
    sys.exit(run("recall_cue", benchmark))
