import math

import numpy as np
import pytest

from services.memory.signals import SIGNALS
from tests.benchmarks.fitting import Example, fit, fit_logistic
from tests.benchmarks.retrieval import auroc, mean_and_margin, ndcg_at, recall_at, reciprocal_rank


def test_recall_is_the_share_of_the_evidence():
    """Recall counts how much of the evidence is among the first k, not whether any is."""
    assert recall_at([5, 1, 9, 2], {1, 2, 3, 4}, 3) == 0.25
    assert recall_at([5, 1, 9, 2], {1, 2}, 4) == 1.0


def test_reciprocal_rank_looks_at_the_first_hit():
    """The rank counts from one; nothing found is nothing."""
    assert reciprocal_rank([5, 1, 2], {1, 2}) == 0.5
    assert reciprocal_rank([5, 6], {1}) == 0.0


def test_ndcg_discounts_by_the_logarithm_of_the_rank():
    """One relevant item at rank three gains 1/log2(4) of the ideal."""
    assert ndcg_at([8, 9, 1], {1}, 10) == pytest.approx(1 / math.log2(4))
    assert ndcg_at([1, 2], {1, 2}, 10) == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("positives", "negatives", "expected"),
    [([3, 4], [1, 2], 1.0), ([1, 2], [3, 4], 0.0), ([1, 1], [1, 1], 0.5), ([2, 4], [1, 3], 0.75)],
)
def test_auroc_counts_pairs(positives, negatives, expected):
    """AUROC is the share of pairs in the right order, ties half."""
    assert auroc(positives, negatives) == expected


def test_margin_shrinks_with_the_number_of_questions():
    """Four times the questions halve the margin."""
    _, few = mean_and_margin([0, 1] * 50)
    _, many = mean_and_margin([0, 1] * 200)
    assert few == pytest.approx(2 * many, rel=0.02)


def test_fitting_finds_the_signal_that_tells():
    """The first signal marks the relevant passage and the second misleads: the fit learns both signs."""
    rows = np.zeros((4, len(SIGNALS)))
    rows[2, 0], rows[1, 1] = 1.0, 1.0
    weights = fit([Example(rows, {2})] * 5)
    assert weights.lexical > 1
    assert weights.lexical_before < 0


def test_a_question_that_counts_for_less_moves_the_fit_less():
    """Of two questions that contradict each other the one with more weight decides."""
    rows = np.zeros((4, len(SIGNALS)))
    rows[2, 0] = 1.0
    assert fit([Example(rows, {2}), Example(rows, {1}, weight=0.1)]).lexical > 1
    assert fit([Example(rows, {2}, weight=0.1), Example(rows, {1})]).lexical < 0


def test_logistic_fit_separates_and_is_balanced():
    """Where the classes are apart the probabilities are; the midpoint is one half however many of each there are."""
    model = fit_logistic([[0.8], [1.0]], [[0.0], [0.2]] * 10)
    assert model.probability([0.9]) > 0.9
    assert model.probability([0.1]) < 0.1
    assert model.probability([0.5]) == pytest.approx(0.5, abs=0.05)
