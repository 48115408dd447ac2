"""Does the memory answer, does it ring a bell, or does it know nothing? Top-k always brings k hits; this says more.

Pure. Two judgements, each a calibrated probability (logistic, fitted on LoCoMo by tests/benchmarks/recall_cue,
which measures them on conversations that they were not fitted on):

- `related`: the memory speaks of what is asked at all (cosine and word coverage of the best hits);
- `agrees`: it says so of the person who is asked about. A question with a false premise ("what did Maria
  adopt?", where John did) finds the right passage, but spoken by, or about, someone else.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from services.core.memory.signals import Passage, SignalWeights, named_speakers, weighed

Verdict = Literal["sure", "rings a bell", "nothing"]

NEUTRAL_SHARE = 0.5  # where a query names nobody, or several
TOP = 5


@dataclass(frozen=True, slots=True)
class Evidence:
    """What the best hits of one query show.

    `similarity` and `coverage` (of the query's words, by rarity) are the best of any hit, 0..1. `margin` is by how
    much the best hit of the person named outscores the best of anybody else, `share` how many of the five best are
    that person's, `own_coverage` what that person's best hit covers.
    """

    similarity: float
    coverage: float
    margin: float = 0.0
    share: float = NEUTRAL_SHARE
    own_coverage: float = 0.0


@dataclass(frozen=True, slots=True)
class Logistic:
    """A logistic model: weights of named features, and the bias."""

    bias: float
    weights: tuple[float, ...]

    def probability(self, features: Sequence[float]) -> float:
        """0..1."""
        return 1 / (1 + math.exp(-self.bias - sum(w * x for w, x in zip(self.weights, features, strict=True))))


@dataclass(frozen=True, slots=True)
class CueSettings:
    """The fitted models, and from which probabilities on the memory is sure, or speaks up at all."""

    related: Logistic = field(default_factory=lambda: Logistic(-6.0, (8.0, 6.0)))
    agrees: Logistic = field(default_factory=lambda: Logistic(0.0, (0.5, 1.0, 1.0)))
    sure_from: float = 0.8
    bell_from: float = 0.4
    agrees_from: float = 0.5


@dataclass(frozen=True, slots=True)
class Cue:
    """The verdict, and the two probabilities that it rests on."""

    verdict: Verdict
    related: float
    agrees: float


def judged(evidence: Evidence, settings: CueSettings | None = None) -> Cue:
    """`sure`: related and of the right person; `rings a bell`: to be confirmed; `nothing`: better say so."""
    settings = settings or CueSettings()
    related = settings.related.probability(related_features(evidence))
    agrees = settings.agrees.probability(agrees_features(evidence))
    if related < settings.bell_from:
        return Cue("nothing", related, agrees)
    sure = related >= settings.sure_from and agrees >= settings.agrees_from
    return Cue("sure" if sure else "rings a bell", related, agrees)


def related_features(evidence: Evidence) -> tuple[float, ...]:
    """What `related` looks at."""
    return (evidence.similarity, evidence.coverage)


def agrees_features(evidence: Evidence) -> tuple[float, ...]:
    """What `agrees` looks at."""
    return (evidence.margin, evidence.share, evidence.own_coverage)


def hit_evidence(similarities: Sequence[float | None], coverages: Sequence[float]) -> Evidence:
    """The evidence of hits that nobody in particular said, as facts are."""
    best = max((s for s in similarities if s is not None), default=0.0)
    return Evidence(best, max(coverages, default=0.0))


def passage_evidence(passages: Sequence[Passage], matrix: NDArray[np.float64], query: str) -> Evidence:
    """The evidence of passages and their signals (`signal_matrix`), speakers weighed apart."""
    plain = hit_evidence([p.similarity for p in passages], [p.coverage for p in passages])
    named = named_speakers(query, {p.speaker for p in passages})
    own = np.array([p.speaker in named for p in passages], dtype=bool)
    if len(named) != 1 or own.all():
        return plain
    scores = weighed(matrix, replace(SignalWeights(), speaker_named=0.0))
    mine, others = np.where(own, scores, -np.inf), np.where(own, -np.inf, scores)
    best = np.argsort(-scores, kind="stable")[:TOP]
    return replace(
        plain,
        margin=float(mine.max() - others.max()),
        share=float(own[best].mean()),
        own_coverage=passages[int(mine.argmax())].coverage,
    )
