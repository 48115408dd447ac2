"""Tokens: the estimate and the sums."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.model.port import Usage
from services.model.usage import estimate_tokens, prompt_tokens, sum_usage


@pytest.mark.parametrize(
    ("text", "tokens"), [("", 0), ("a", 1), ("a" * 7, 2), ("a" * 8, 3), ("日本語", 3), ("привет", 4), ("\ud800", 1)]
)
def test_estimate_is_a_token_for_three_and_a_half_bytes(text: str, tokens: int) -> None:
    """One token for 3.5 bytes of UTF-8, rounded up, so other scripts count more by the letter."""
    assert estimate_tokens(text) == tokens


@given(st.text(), st.text())
def test_estimate_of_the_whole_never_exceeds_its_parts(one: str, two: str) -> None:
    """Budgets that hold for each part hold for the whole, and more text never counts less."""
    whole = estimate_tokens(one + two)
    assert max(estimate_tokens(one), estimate_tokens(two)) <= whole <= estimate_tokens(one) + estimate_tokens(two)


def test_a_prompt_is_all_that_was_read() -> None:
    """What came from the cache and what was written to it count, too; the answer does not."""
    assert prompt_tokens(Usage(input=20, output=5, cache_read=60, cache_write=20)) == 100


def test_sum_adds_each_kind() -> None:
    """Several calls add up kind by kind."""
    assert sum_usage([Usage(1, 2, 3, 4), Usage(10, 20, 30, 40)]) == Usage(11, 22, 33, 44)
    assert sum_usage([]) == Usage()
