"""What speaks for a passage: its own words and meaning, those of its neighbours and its stream, who said it.

Pure and vectorised. A passage is a turn, a mail's paragraph or a chunk; its stream is the session, thread
or document it stands in. A passage is rarely found by itself: the question stands one turn before the
answer, which may be two words, and the topic is named once in a stream. Every list of scores is scaled to 0..1
within the query, so the weights mean the same for any embedder and any corpus.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from services.memory.fusion import Scores, min_max
from services.memory.periods import Window
from services.memory.ranking import nearness

SUBSTANCE = (20, 400)  # characters

_WORD = re.compile(r"[^\W\d_]{3,}")


@dataclass(frozen=True, slots=True)
class Passage:
    """One row that may answer: where it stands, its scores for this query, and what kind of text it is.

    `similarity` is the cosine, None without a vector; `lexical` and `stream_lexical` are BM25 scores of the
    passage and of its whole stream, `coverage` the share of the query's words that it holds, 0..1, each
    as much as it is rare; `length` is in characters; `at` is when it was said, None where nobody knows. `as_asked` is
    the cosine of the query as it was put, where `similarity` is that of its meaning in other words.
    """

    id: UUID
    stream: UUID
    position: int
    speaker: str
    length: int
    question: bool
    similarity: float | None
    lexical: float
    coverage: float
    stream_lexical: float
    at: datetime | None = None
    as_asked: float | None = None


@dataclass(frozen=True, slots=True)
class SignalWeights:
    """How much each signal counts, as tests/benchmarks/recall_quality fits it on the LoCoMo conversations at hand."""

    lexical: float = 3.05
    lexical_before: float = 1.49
    lexical_after: float = 0.32
    lexical_two_before: float = 1.53
    lexical_two_after: float = 0.32
    dense: float = 3.10
    dense_before: float = 0.39
    dense_after: float = 1.32
    dense_two_before: float = -0.79
    dense_two_after: float = -0.22
    stream_lexical: float = 2.70
    stream_dense: float = 1.23
    speaker_named: float = 1.02
    question: float = -1.17
    length: float = 4.00
    timely: float = 0.0
    coverage: float = 0.0
    named_lexical: float = 0.0
    named_dense: float = 0.0
    answers_lexical: float = 0.0
    answers_dense: float = 0.0


SAID_WEIGHTS = SignalWeights(
    lexical=0.11,
    lexical_before=0.23,
    lexical_after=0.19,
    lexical_two_before=0.58,
    lexical_two_after=0.52,
    dense=2.39,
    dense_before=0.48,
    dense_after=0.41,
    dense_two_before=0.39,
    dense_two_after=-0.39,
    stream_lexical=1.16,
    stream_dense=3.77,
    speaker_named=0.85,
    question=-1.86,
    length=0.0,
    timely=6.38,
    coverage=3.14,
    named_lexical=0.12,
    named_dense=1.65,
    answers_lexical=0.94,
    answers_dense=0.01,
)
"""For what was said, fitted on LoCoMo and on support threads together. Length counts nothing: long mails win by it.

Questions with a false premise count a quarter there: their evidence is what somebody else said than who is named.
"""

SIGNALS = tuple(field.name for field in fields(SignalWeights))


def signal_matrix(passages: Sequence[Passage], query: str, window: Window | None = None) -> NDArray[np.float64]:
    """All signals of n passages, shape (n, len(SIGNALS)), columns in the order of SIGNALS; `window` is what it asks."""
    lexical = min_max(np.array([p.lexical for p in passages], dtype=np.float64))
    dense = min_max(np.array([np.nan if p.similarity is None else p.similarity for p in passages], dtype=np.float64))
    around = _neighbours(passages)
    named = np.array(_spoken_by_named(passages, query), dtype=np.float64)
    asks = np.array([p.question for p in passages], dtype=np.float64)
    columns = [
        lexical,
        *(_taken(lexical, where) for where in around),
        dense,
        *(_taken(dense, where) for where in around),
    ]
    columns += [
        min_max(np.array([p.stream_lexical for p in passages], dtype=np.float64)),
        min_max(_best_of_stream(passages)),
        named,
        asks,
        _substance(np.array([p.length for p in passages], dtype=np.float64)),
        np.array([0.0 if window is None or p.at is None else nearness(p.at, window) for p in passages]),
        np.array([p.coverage for p in passages], dtype=np.float64),
        named * lexical,
        named * dense,
        _taken(asks * lexical, around[0]),
        _taken(asks * dense, around[0]),
    ]
    return np.stack(columns, axis=1)


def weighed(matrix: NDArray[np.float64], weights: SignalWeights) -> Scores:
    """The score of each passage, shape (n,): higher is better, comparable within one query only."""
    scores: Scores = matrix @ np.array([getattr(weights, name) for name in SIGNALS])
    return scores


def likely(scores: Scores) -> Scores:
    """How likely each passage is the one that answers, shape (n,), by fitted weights: what fitting them maximises."""
    raised: Scores = np.exp(scores - scores.max())
    chances: Scores = raised / raised.sum()
    return chances


def spread(scores: Scores, passages: Sequence[Passage], share: float) -> Scores:
    """Scores of shape (n,) less `share` for each better passage of the same stream.

    An answer lifts its neighbours, and what needs several passages stands in several streams: without this one hit
    fills the first ten with what stands around it.
    """
    lowered, seen = scores.copy(), dict[UUID, int]()
    for place in np.argsort(-scores, kind="stable"):
        better = seen.get(passages[place].stream, 0)
        lowered[place] -= share * better
        seen[passages[place].stream] = better + 1
    return lowered


def named_speakers(query: str, speakers: Iterable[str]) -> set[str]:
    """Which of the speakers a query names, by any part of their names of three letters or more."""
    words = {word.casefold() for word in _WORD.findall(query)}
    return {speaker for speaker in speakers if words & {word.casefold() for word in _WORD.findall(speaker)}}


def _substance(lengths: Scores) -> Scores:
    """0 for a mere greeting, 1 from a full paragraph on, so that a long chunk does not win by its length."""
    shortest, longest = SUBSTANCE
    scaled: Scores = np.log(np.clip(lengths, shortest, longest) / shortest) / np.log(longest / shortest)
    return scaled


def _spoken_by_named(passages: Sequence[Passage], query: str) -> list[bool]:
    """True for the passages of the one speaker that the query names; naming several says nothing."""
    named = named_speakers(query, {p.speaker for p in passages})
    return [len(named) == 1 and p.speaker in named for p in passages]


def _neighbours(passages: Sequence[Passage]) -> list[NDArray[np.int64]]:
    """For one before, one after, two before, two after: each passage's neighbour's index, or n where there is none."""
    where = {(p.stream, p.position): index for index, p in enumerate(passages)}
    n = len(passages)
    return [
        np.array([where.get((p.stream, p.position + offset), n) for p in passages], dtype=np.int64)
        for offset in (-1, 1, -2, 2)
    ]


def _taken(scores: Scores, where: NDArray[np.int64]) -> Scores:
    return np.append(scores, 0.0)[where]


def _best_of_stream(passages: Sequence[Passage]) -> Scores:
    best: dict[UUID, float] = {}
    for p in passages:
        if p.similarity is not None:
            best[p.stream] = max(best.get(p.stream, -1.0), p.similarity)
    return np.array([best.get(p.stream, np.nan) for p in passages], dtype=np.float64)
