"""The lower bound of a share, and how many further approvals reach one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.core.wilson import Z, still_needed, wilson


@pytest.mark.parametrize(
    ("good", "of", "bound"), [(0, 0, 0.0), (0, 10, 0.0), (10, 10, 0.7225), (7, 10, 0.3968), (95, 100, 0.8882)]
)
def test_bounds_of_published_tables(good: int, of: int, bound: float) -> None:
    """The values of Wilson's interval without a correction for continuity."""
    assert wilson(good, of) == pytest.approx(bound, abs=5e-5)


@given(st.integers(1, 400), st.data())
def test_the_bound_is_the_share_that_lies_just_so_far_from_what_was_seen(of: int, data: st.DataObject) -> None:
    """It solves Wilson's own equation: the seen share lies Z standard errors of the bound above the bound."""
    good = data.draw(st.integers(0, of))
    bound, seen = wilson(good, of), good / of
    assert 0 <= bound <= seen + 1e-12
    assert seen - bound == pytest.approx(Z * (bound * (1 - bound) / of) ** 0.5, abs=1e-6)


@given(st.lists(st.booleans(), max_size=60), st.integers(5, 60), st.floats(0.05, 0.95))
def test_so_many_further_ones_are_needed_and_not_one_less(decisions: list[bool], over: int, bound: float) -> None:
    """With that many the bound is reached over the last decisions, with one less it is not."""

    def reached(further: int) -> bool:
        window = ([True] * further + decisions)[:over]
        return wilson(sum(window), len(window)) >= bound

    needed = still_needed(decisions, over, bound)
    if needed is None:
        assert not any(reached(further) for further in range(over + 1))
    else:
        assert reached(needed)
        assert not any(reached(further) for further in range(needed))
