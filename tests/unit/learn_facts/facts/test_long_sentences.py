"""A sentence without an end is judged in time: what is looked at of it is bounded."""

from __future__ import annotations

import pytest

from services.learn_facts.facts.assertion import given_up, is_said, mood_of
from services.learn_facts.facts.plainly import tells_of_another
from services.memory.quotes import find_quote
from tests.support.cpu import at_most

LONGEST = 32_000  # characters of a mail that are read
SECONDS = 4.0  # of CPU for what takes one at the most; as many clauses for each clause took hours


@pytest.mark.parametrize(
    "unit",
    [
        "a\n",
        "a, ",
        "a; ",
        "(a) ",
        "a - ",
        "é, ",
        "a but ",
        "i left a, ",
        "a, and ",
        "a: ",
        "seats 7. ",
        "roof type is b. ",
    ],
)
def test_a_sentence_that_says_a_value_in_each_clause_stopped_what_learns(unit: str) -> None:
    """One mail of such lines kept every customer's facts waiting."""
    text = unit * (LONGEST // len(unit))
    value = unit.strip("\n ,;()-:").rpartition(" ")[2] if unit != "a but " else "a"
    span = find_quote(value, text)
    with at_most(SECONDS, unit):
        if span is not None:
            mood_of(value, span, text)
        given_up(value, "plan", text)
        tells_of_another("12", "seats", text, value)
        tells_of_another("slate", "roof type", text, value)
        is_said(value, text)
