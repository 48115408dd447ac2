"""Fits what the memory has learnt from LoCoMo: full batch, deterministic.

The weights of passage signals by listwise softmax regression, the judgements of a cue by logistic regression.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence, Set
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from services.memory.cue import Logistic
from services.memory.signals import SIGNALS, SignalWeights, likely

STEPS = 200
LOGISTIC_STEPS = 3000
RATE = 0.15
RIDGE = 1e-3
AT_ZERO = ("length",)  # what it says of two people's chats is wrong where one side writes long mails
FALSE_PREMISE_WEIGHT = 0.25  # of a question about the wrong person: by it the speaker who is named counts for less

Matrix = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Example:
    """One question: the signals of n passages, shape (n, signals), and the indices of those that answer it.

    `weight` is how much it counts beside the others.
    """

    signals: Matrix
    relevant: Set[int]
    weight: float = 1.0


def fit(examples: Sequence[Example], at_zero: Collection[str] = ()) -> SignalWeights:
    """The weights under which the relevant passages are most likely (Adam on the ridge-penalised log-likelihood).

    The signals of these names stay at zero.
    """
    free = np.array([name not in at_zero for name in SIGNALS], dtype=np.float64)
    weights, counts = np.zeros(len(SIGNALS)), [example.weight for example in examples]
    first, second = np.zeros_like(weights), np.zeros_like(weights)
    for step in range(1, STEPS + 1):
        slopes = [_slope(example, weights) for example in examples]
        slope = free * np.average(slopes, axis=0, weights=counts) - RIDGE * weights
        first = 0.9 * first + 0.1 * slope
        second = 0.99 * second + 0.01 * slope**2
        weights += RATE * (first / (1 - 0.9**step)) / (np.sqrt(second / (1 - 0.99**step)) + 1e-8)
    return SignalWeights(*(round(float(weight), 2) for weight in weights))


def _slope(example: Example, weights: Matrix) -> Matrix:
    scores = example.signals @ weights
    slope: Matrix = example.signals[sorted(example.relevant)].mean(axis=0) - likely(scores) @ example.signals
    return slope


def fit_logistic(positives: Sequence[Sequence[float]], negatives: Sequence[Sequence[float]]) -> Logistic:
    """The logistic model of two classes, each weighing the same however many examples it has."""
    features = np.array([*positives, *negatives], dtype=np.float64)
    means, spreads = features.mean(axis=0), features.std(axis=0) + 1e-9
    rows = np.column_stack([(features - means) / spreads, np.ones(len(features))])
    truth = np.repeat([1.0, 0.0], [len(positives), len(negatives)])
    share = np.repeat([0.5 / len(positives), 0.5 / len(negatives)], [len(positives), len(negatives)])
    weights = np.zeros(rows.shape[1])
    for _ in range(LOGISTIC_STEPS):
        slope = rows.T @ (share * (truth - 1 / (1 + np.exp(-rows @ weights))))
        slope[:-1] -= RIDGE * weights[:-1]
        weights += slope
    plain = weights[:-1] / spreads
    bias = float(weights[-1] - plain @ means)
    return Logistic(round(bias, 2), tuple(round(float(weight), 2) for weight in plain))
