import numpy as np

from services.memory.fusion import convex, min_max
from tests.benchmarks.retrieval import rank_fusion


def test_min_max_maps_the_least_to_zero_and_the_most_to_one():
    """Scores are scaled to 0..1 whatever their unit."""
    assert min_max(np.array([3.0, 5.0, 4.0])).tolist() == [0.0, 1.0, 0.5]


def test_equal_scores_say_nothing():
    """A list that does not tell its candidates apart adds nothing to any of them."""
    assert min_max(np.array([2.0, 2.0])).tolist() == [0.0, 0.0]


def test_a_missing_score_counts_as_the_least():
    """A row without a vector can still be found by its words, and is not favoured."""
    assert min_max(np.array([np.nan, 0.2, 0.6])).tolist() == [0.0, 0.0, 1.0]


def test_no_candidates_fuse_to_none():
    """An empty memory is no error."""
    assert convex(np.array([]), np.array([]), 0.5).size == 0


def test_convex_keeps_how_far_ahead_the_first_is():
    """A clear lead in one list outweighs a hair's breadth in the other; ranks alone would call it a draw."""
    dense, lexical = np.array([0.90, 0.10, 0.11]), np.array([5.0, 5.1, 0.0])
    fused = convex(dense, lexical, 0.5)
    ranked = rank_fusion(dense, lexical)
    assert fused[0] > fused[1] + 0.4
    assert abs(ranked[0] - ranked[1]) < 0.001
