"""Fits the weights of passage signals: listwise softmax regression, full batch, deterministic."""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from services.core.memory.signals import SIGNALS, SignalWeights

STEPS = 200
RATE = 0.15
RIDGE = 1e-3

Matrix = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Example:
    """One question: the signals of n passages, shape (n, signals), and the indices of those that answer it."""

    signals: Matrix
    relevant: Set[int]


def fit(examples: Sequence[Example]) -> SignalWeights:
    """The weights under which the relevant passages are most likely (Adam on the ridge-penalised log-likelihood)."""
    weights = np.zeros(len(SIGNALS))
    first, second = np.zeros_like(weights), np.zeros_like(weights)
    for step in range(1, STEPS + 1):
        slope = np.mean([_slope(example, weights) for example in examples], axis=0) - RIDGE * weights
        first = 0.9 * first + 0.1 * slope
        second = 0.99 * second + 0.01 * slope**2
        weights += RATE * (first / (1 - 0.9**step)) / (np.sqrt(second / (1 - 0.99**step)) + 1e-8)
    return SignalWeights(*(round(float(weight), 2) for weight in weights))


def _slope(example: Example, weights: Matrix) -> Matrix:
    scores = example.signals @ weights
    likely = np.exp(scores - scores.max())
    slope: Matrix = example.signals[sorted(example.relevant)].mean(axis=0) - (likely / likely.sum()) @ example.signals
    return slope
