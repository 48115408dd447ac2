"""How good a ranking is, and how sure one may be of the mean."""

from __future__ import annotations

import math
from collections.abc import Sequence, Set

import numpy as np
from numpy.typing import NDArray

CUTS = (1, 5, 10, 25, 50)


def recall_at(ranked: Sequence[int], relevant: Set[int], k: int) -> float:
    """The share of the relevant items among the first k."""
    return len(relevant & set(ranked[:k])) / len(relevant)


def reciprocal_rank(ranked: Sequence[int], relevant: Set[int]) -> float:
    """1 / rank of the first relevant item; 0 where there is none."""
    return next((1 / rank for rank, item in enumerate(ranked, start=1) if item in relevant), 0.0)


def ndcg_at(ranked: Sequence[int], relevant: Set[int], k: int) -> float:
    """Normalised discounted cumulative gain with gains of 0 and 1."""
    gain = sum(1 / math.log2(rank + 1) for rank, item in enumerate(ranked[:k], start=1) if item in relevant)
    return gain / sum(1 / math.log2(rank + 1) for rank in range(1, min(len(relevant), k) + 1))


def rank_fusion(*lists: NDArray[np.float64], constant: int = 60) -> NDArray[np.float64]:
    """Cormack's reciprocal rank fusion over score lists of shape (n,), best = highest: the baseline to beat."""
    total = np.zeros(len(lists[0]))
    for scores in lists:
        ranks = np.empty(len(scores), dtype=np.int64)
        ranks[np.argsort(-scores, kind="stable")] = np.arange(1, len(scores) + 1)
        total += 1 / (constant + ranks)
    return total


def mean_and_margin(values: Sequence[float]) -> tuple[float, float]:
    """The mean and the half width of its 95 % confidence interval (normal approximation)."""
    array = np.asarray(values, dtype=np.float64)
    return float(array.mean()), float(1.96 * array.std(ddof=1) / math.sqrt(len(array))) if len(array) > 1 else 0.0


def auroc(positives: Sequence[float], negatives: Sequence[float]) -> float:
    """The probability that a positive scores above a negative; a tie counts half (Mann-Whitney)."""
    order = np.sort(np.asarray(negatives, dtype=np.float64))
    scores = np.asarray(positives, dtype=np.float64)
    below = np.searchsorted(order, scores, side="left")
    ties = np.searchsorted(order, scores, side="right") - below
    return float((below + ties / 2).sum() / (len(scores) * len(order)))
