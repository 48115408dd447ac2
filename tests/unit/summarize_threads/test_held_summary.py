"""The limit of a summary: so many words, whatever comes, and its numbers are not lost to the cut."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schemas.held_summary import MOST, held, numbers


def words(text: str) -> int:
    return len(text.split())


def test_a_short_summary_stays_as_it_is() -> None:
    """What fits, with every number of before, is not touched."""
    text = "Ada asked about invoice 4471 ($120.50). We refunded it on 2026-03-02."
    assert held(text, 200, "Ada wrote about invoice 4471.") == text


def test_numbers_behind_the_cut_are_named_at_the_end() -> None:
    """The cut leaves whole sentences, and the numbers it took away come back in one line, within the limit."""
    text = "Ada reported a fault. " + "It was long. " * 30 + "Her order is A-77812 and we owe her $45."
    short = held(text, 40)
    assert short.startswith("Ada reported a fault.")
    assert short.endswith("Also: A-77812, $45.")
    assert words(short) <= 40


def test_a_number_that_the_model_left_out_is_kept() -> None:
    """A model that forgets the order number does not make us forget it."""
    before = "Ada Miller wrote about order 99120 and ticket #4411."
    assert held("Ada thanked us; all is settled.", 200, before) == "Ada thanked us; all is settled. Also: 99120, #4411."


def test_it_does_not_grow_from_update_to_update() -> None:
    """Kept numbers are kept once, the latest ones, and the same summary again is the same."""
    text = "Start."
    for number in range(1000, 1060):
        text = held(f"They wrote about case {number}.", 60, text)
    assert words(text) <= 60
    assert "1059" in text
    assert text.count("Also:") == 1
    assert held(text, 60, text) == text


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("order 4471, plan 3, 2 seats", ["4471"]),
        ("since 2024, on 2026-03-02 and 02.03.2026, 2026-W10", []),
        ("INV-2231 and #77, #7781; $5 or 20%", ["INV-2231", "#77", "#7781", "$5", "20%"]),
        ("call +49 30 901820", ["901820"]),
        ("nothing at all", []),
    ],
)
def test_which_numbers_name_a_thing(text: str, found: list[str]) -> None:
    """Order and invoice numbers, ids and amounts do; dates, years and small counts do not."""
    assert numbers(text) == found


@given(text=st.text(max_size=3000), before=st.text(max_size=600), limit=st.integers(30, 200))
@settings(max_examples=300, deadline=None)
def test_the_limit_holds_whatever_comes(text: str, before: str, limit: int) -> None:
    """No text of a model, and no summary before it, makes one over the limit."""
    assert words(held(text, limit, before)) <= limit
    assert len(numbers(held(text, limit, before))) <= len(numbers(text)) + len(numbers(before)) + MOST
