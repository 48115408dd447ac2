"""Does the memory answer, does it ring a bell, or does it know nothing? Top-k always brings k hits; this says more.

Pure. Two judgements, each a calibrated probability (logistic, fitted by tests/benchmarks/recall_cue, which measures
them on conversations and people that they were not fitted on; passages on LoCoMo, facts on an invented set):

- `related`: the memory speaks of what is asked at all (cosine and word coverage). One fact answers, so that the verdict
  and what it is about are never of two; passages answer together, as the question stands next to the answer;
- `agrees`: it says so of the person who is asked about. A question with a false premise ("what did Maria
  adopt?", where John did) finds the right passage, but spoken by, or about, someone else.

Passages are sure only if they are also `held` and `alike`. The weights by which they are ranked are themselves a model
of which of them answers, by which one of the first five has to be the answer as good as certainly. And the first has to
mean what is asked, or to answer a question that does: neighbours and thread alone may lift what stands beside it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from services.memory.periods import Window, period
from services.memory.search import Hit
from services.memory.signals import Passage, SignalWeights, likely, named_speakers, weighed

Verdict = Literal["sure", "rings a bell", "nothing"]
Order = NDArray[np.int64]

TOP = 5
CANNOT_TELL = 0.5  # whether a person said so, where the query names nobody or several


@dataclass(frozen=True, slots=True)
class Evidence:
    """What the hits of one query show.

    `similarity` and `coverage` (of the query's words, by rarity) are those of the most relevant fact, or the best of
    any passage, 0..1. Where the query names one of several speakers, `margin` is by how much that one's best hit
    outscores the best of the others, and `share` how many of the five best are that one's; both None otherwise.
    `held` is how likely it is that one of the first five passages answers, 0..1; `alike` the similarity of the first,
    or of the question right before it where that is more. Both are None for facts.
    """

    similarity: float
    coverage: float
    margin: float | None = None
    share: float | None = None
    held: float | None = None
    alike: float | None = None


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

    related: Logistic = field(default_factory=lambda: Logistic(-11.96, (23.09, 6.71)))
    agrees: Logistic = field(default_factory=lambda: Logistic(-2.4, (0.55, 2.05)))
    sure_from: float = 0.8
    bell_from: float = 0.4
    agrees_from: float = 0.5
    held_from: float = 0.9
    alike_from: float = 0.3
    confirmed_from: float = 0.6  # confidence x weight from which a fact may be relied on: said literally, and not stale


FACT_CUES = CueSettings(related=Logistic(-4.57, (15.36, 8.38)), sure_from=0.9)
"""For facts: one person's sentences, of which the best is less alike than the best of a long conversation's turns."""


@dataclass(frozen=True, slots=True)
class Cue:
    """The verdict, and the two probabilities that it rests on."""

    verdict: Verdict
    related: float
    agrees: float


@dataclass(frozen=True, slots=True)
class Recall:
    """What a search for facts amounts to: the cue, and for a bell that rings, when it was and what about.

    `best` is the most relevant hit, whose text is the gist and whose evidence the verdict; `window` spans the days of
    those that are at least half as relevant. Both are to be confirmed by the customer, and None where there is nothing.
    """

    cue: Cue
    window: Window | None = None
    best: Hit | None = None

    @property
    def gist(self) -> str | None:
        """What it seems to be about."""
        return self.best.fact.text if self.best else None


def recalled(hits: Sequence[Hit], settings: CueSettings = FACT_CUES) -> Recall:
    """The judgement of `search_facts`' hits. Nothing is sure that rests on an unconfirmed fact.

    Importance and age order what is shown; what answers is the most relevant hit, however it stands. A fact that
    tells of a question ("they asked: ...?") is no answer to it.
    """
    best = most_relevant(hits)
    if best is None:
        return Recall(judged(Evidence(0.0, 0.0), settings))
    cue = judged(fact_evidence(best), settings)
    if cue.verdict == "nothing":
        return Recall(cue)
    days = [period("day", hit.fact.valid_from) for hit in hits if hit.relevance >= best.relevance / 2]
    found = Recall(cue, Window(min(d.start for d in days), max(d.end for d in days)), best)
    return found if best.fact.confidence * best.fact.weight >= settings.confirmed_from else unsure(found)


def most_relevant(hits: Sequence[Hit]) -> Hit | None:
    """The hit that answers, if any does; of equally relevant ones the first."""
    telling = (hit for hit in hits if not hit.fact.text.rstrip().endswith("?"))
    return max(telling, key=lambda hit: hit.relevance, default=None)


def unsure(found: Recall) -> Recall:
    """The same, to be confirmed: what would be sure only rings a bell."""
    return replace(found, cue=replace(found.cue, verdict="rings a bell")) if found.cue.verdict == "sure" else found


def judged(evidence: Evidence, settings: CueSettings | None = None) -> Cue:
    """`sure`: related, held, alike, of the right person; `rings a bell`: to be confirmed; `nothing`: better say so."""
    settings = settings or CueSettings()
    related = settings.related.probability(related_features(evidence))
    named = evidence.margin is not None
    agrees = settings.agrees.probability(agrees_features(evidence)) if named else CANNOT_TELL
    if related < settings.bell_from:
        return Cue("nothing", related, agrees)
    held = evidence.held is None or evidence.held >= settings.held_from
    alike = evidence.alike is None or evidence.alike >= settings.alike_from
    sure = related >= settings.sure_from and held and alike and (not named or agrees >= settings.agrees_from)
    return Cue("sure" if sure else "rings a bell", related, agrees)


def related_features(evidence: Evidence) -> tuple[float, ...]:
    """What `related` looks at."""
    return (evidence.similarity, evidence.coverage)


def agrees_features(evidence: Evidence) -> tuple[float, ...]:
    """What `agrees` looks at."""
    return (evidence.margin or 0.0, evidence.share or 0.0)


def fact_evidence(hit: Hit) -> Evidence:
    """The evidence of one fact; no vector is no similarity."""
    return Evidence(hit.similarity or 0.0, hit.coverage)


def passage_evidence(
    passages: Sequence[Passage], matrix: NDArray[np.float64], query: str, weights: SignalWeights, order: Order
) -> Evidence:
    """The evidence of one passage or more and their signals (`signal_matrix`), speakers weighed apart.

    `order` has the indices of the passages, best first, as they are shown.
    """
    plain = Evidence(
        max(_as_asked(p) for p in passages),
        max(p.coverage for p in passages),
        held=float(likely(weighed(matrix, weights))[order[:TOP]].sum()),
        alike=_alike(passages, passages[order[0]]),
    )
    named = named_speakers(query, {p.speaker for p in passages})
    own = np.array([p.speaker in named for p in passages], dtype=bool)
    if len(named) != 1 or own.all():
        return plain
    scores = weighed(matrix, replace(weights, speaker_named=0.0))
    best = np.argsort(-scores, kind="stable")[:TOP]
    return replace(plain, margin=float(scores[own].max() - scores[~own].max()), share=float(own[best].mean()))


def _alike(passages: Sequence[Passage], first: Passage) -> float:
    before = first.stream, first.position - 1
    asked = (p for p in passages if p.question and (p.stream, p.position) == before)
    return max(map(_as_asked, (first, *asked)))


def _as_asked(passage: Passage) -> float:
    return (passage.similarity if passage.as_asked is None else passage.as_asked) or 0.0
