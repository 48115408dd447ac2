"""Numbers in words."""

from __future__ import annotations

import pytest

from services.learn_facts.facts.values import same_value
from services.memory.numerals import digits, measured


@pytest.mark.parametrize(
    ("told", "number"),
    [
        ("fifteen hundred", "1500"),
        ("twenty-five", "25"),
        ("one hundred and five", "105"),
        ("three thousand two hundred", "3200"),
        ("a dozen", "12"),
        ("two dozen", "24"),
        ("2k", "2000"),
        ("1.5 million", "1500000"),
        ("fünfundfünfzig", "55"),
        ("fünfzehnhundert", "1500"),
        ("dreihundertfünfundzwanzig", "325"),
        ("quatre-vingt-dix-sept", "97"),
        ("soixante et onze", "71"),
        ("veinticinco", "25"),
        ("mil quinientos", "1500"),
        ("ventotto", "28"),
        ("duemilacinquecento", "2500"),
        ("vinte e cinco", "25"),
        ("tweeëntwintig", "22"),
        ("dwadzieścia pięć", "25"),
        ("tysiąc pięćset", "1500"),
    ],
)
def test_a_number_in_words_is_its_digits(told: str, number: str) -> None:
    """In each language that the table has, also put together."""
    assert digits(told) == number
    assert same_value(told, number)


@pytest.mark.parametrize("told", ["five ten", "often", "between five and ten", "a tendon", "2026"])
def test_what_is_no_single_number_stays_as_it_is(told: str) -> None:
    """Two numbers side by side, and words that only hold the letters of one."""
    assert digits(told) == told


def test_sizes_are_one_in_whatever_measure() -> None:
    """1.5 TB are 1500 GB, and two years are 24 months; a size is no length."""
    assert same_value("1.5 TB", "1500 GB")
    assert same_value("24 months", "two years")
    assert not same_value("1500 GB", "1500 MB")
    assert measured("40 users") is None
