"""Where a value stands in a sentence, so that a clause is known to say it."""

from __future__ import annotations

import pytest

from services.learn_facts.facts.clauses import place_of


@pytest.mark.parametrize(
    ("value", "text", "place"),
    [
        ("art", "They like art.", "art"),
        ("art", "They are smart.", ""),
        ("art", "They sell arts.", ""),
        ("12", "We have 212 seats.", ""),
        ("team", "我们用Team版", "Team"),
        ("team", "我们用Teams版", ""),
        ("team", "Our plan is a Team版", "Team"),
        ("田中", "私は田中です", "田中"),
    ],
)
def test_a_value_stands_where_whole_words_say_it(value: str, text: str, place: str) -> None:
    """A part of a word is not the value; beside a script that puts no space between words it needs none."""
    found = place_of(value, text)
    assert (text[slice(*found)] if found else "") == place
