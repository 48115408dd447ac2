"""Short answers and the ways in which mail programs announce a quote, in all combinations that a seed draws."""

from __future__ import annotations

import pytest

from tests.benchmarks.mail_answers import combinations, lost, swapped, taken_off
from tests.benchmarks.mail_attributions import ALL

COMBINATIONS = 1_500


@pytest.mark.parametrize("seed", [1, 2])
def test_no_word_of_an_answer_is_lost_and_none_swapped_for_the_quote(seed: int) -> None:
    """What the customer wrote is new, whatever its first line looks like and whoever's program announces the quote."""
    mails = list(combinations(COMBINATIONS, seed))
    assert [name for name, mail in mails if lost(mail) or swapped(mail)] == []


def test_nearly_every_quote_is_taken_off() -> None:
    """Of the quotes that can be told from the answer at least 98 of 100 are not in the new text."""
    to_go = [mail for _, mail in combinations(COMBINATIONS, 3) if mail.quote_goes]
    assert sum(map(taken_off, to_go)) >= 0.98 * len(to_go)


def test_the_formats_are_many_and_in_many_languages() -> None:
    """At least fifty formats are tried, each by its own name."""
    assert len({name for name, *_ in ALL}) == len(ALL) >= 100
