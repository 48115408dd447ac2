"""Two values are one in whatever form each is written, and no nearer than that."""

from __future__ import annotations

import pytest

from services.learn_facts.facts.evidence import disallowed
from services.learn_facts.facts.values import place_of_day, same_value
from services.memory.quotes import Span
from tests.unit.learn_facts.people import proposal

ONE = [
    ("12,000 euros", "€12000"),
    ("$1,200", "1200 USD"),
    ("1.200,00 EUR", "€1200"),
    ("9:00-17:00", "9 am to 5 pm"),
    ("von 9:00 bis 17:30", "9:00 - 17:30"),
    ("(415) 555-2671", "415.555.2671"),
    ("1.5 TB", "1,5 TB"),
    ("first of March 2026", "2026-03-01"),
    ("March the first, 2026", "1 March 2026"),
    ("the twenty-first of March 2026", "2026-03-21"),
    ("ersten März 2026", "1. März 2026"),
    ("am einundzwanzigsten März 2026", "21. März 2026"),
    ("primero de marzo de 2026", "2026-03-01"),
    ("pierwszego marca 2026", "2026-03-01"),
    ("nine to five", "9:00-17:00"),
    ("9 to 5", "9 am to 5 pm"),
    ("neun bis siebzehn", "9:00-17:00"),
    ("nine to twelve", "9:00-12:00"),
]
TWO = [
    ("12,000 euros", "12,000 dollars"),
    ("12,000 euros", "1,200 euros"),
    ("€12", "€12.50"),
    ("9:00-17:00", "9 am to 6 pm"),
    ("1.5 TB", "15 TB"),
    ("1,500", "1.5"),
    ("first of March 2026", "2026-03-02"),
    ("first of March 2026", "first of March 2027"),
    ("first quarter of 2026", "2026-01-01"),
    ("second Monday of March 2026", "2026-03-02"),
    ("nine to five", "9:00-18:00"),
    ("5 to 9", "9:00-17:00"),
    ("10-2", "10-14"),
    ("415.555.2671", "415.555.2672"),
]


@pytest.mark.parametrize(("one", "other"), ONE)
def test_a_sum_a_day_in_words_a_span_of_hours_and_a_decimal_in_another_form_was_another_value(
    one: str, other: str
) -> None:
    """Sums with their currency, hours of a day, telephones with dots and decimals are compared by what they mean."""
    assert same_value(one, other)
    assert same_value(other, one)


@pytest.mark.parametrize(("one", "other"), TWO)
def test_what_differs_in_a_digit_or_a_currency_is_another_value(one: str, other: str) -> None:
    """A form is no meaning: another digit, currency or hour is another value."""
    assert not same_value(one, other)


@pytest.mark.parametrize(
    ("value", "text", "found"),
    [
        ("2027-03-01", "The renewal was put back from 1 March 2027 to 1 June 2027.", "1 March 2027"),
        ("2027-06-01", "The renewal was put back from 1 March 2027 to 1 June 2027.", "1 June 2027"),
        ("2027-06-01", "Die Verlängerung ist am 1. Juni 2027.", "1. Juni 2027"),
        ("2027-03-01", "The renewal is on 2 March 2027.", ""),
        ("Team", "We are on Team since 1 March 2027.", ""),
    ],
)
def test_a_date_in_another_form_was_not_found_in_its_sentence(value: str, text: str, found: str) -> None:
    """A day is found by the day that a text names, so that the words around it are judged."""
    place = place_of_day(value, text)
    assert (text[slice(*place)] if place else "") == found


def test_a_credit_card_was_taken_for_an_order() -> None:
    """A value of a word or two is a name, whatever its first word could order; a sentence that orders is still refused."""
    span = Span(0, 3, "pay")
    assert disallowed(proposal(value="credit card", text="They pay by credit card."), span, "pay") == ""
    assert disallowed(proposal(value="credit every invoice twice", text=""), span, "pay")
