"""A proposal's key is that of a fact that stands, where it is the same in other words or the mail names it."""

from __future__ import annotations

import pytest

from services.learn_facts.facts.naming import key_told
from tests.unit.learn_facts.people import known, person, proposal, source

ONE_KEY = [
    ("delivery date", "Monday", "day of delivery", "Thursday", "Thursday is our delivery day from here on."),
    ("meter number", "88120", "meter", "88210", "Sorry, the meter reads 88210 on its label."),
    ("policy number", "P-7781", "policy", "P-9034", "The policy was reissued: P-9034."),
    ("contact person", "Ruth", "contact", "Samir", "Samir is our contact person."),
    ("plan", "Komfort", "vertrag", "Premium", "Seit Mai läuft bei mir der Tarif Premium."),
    ("warehouse code", "LX-4", "depot code", "LX-9", "Our warehouse code is LX-9."),
    ("phone", "555-0101", "mobile", "555-0202", "Our details:\n- Phone: 555-0202"),
    ("contact person", "Carla", "contatto", "Davide", "Il nostro referente non è più Carla, è Davide."),
    ("payment method", "card", "way of paying", "direct debit", "Since May we pay by direct debit."),
]
TWO_KEYS = [
    ("phone", "555-0101", "emergency phone", "555-0909", "Im Notfall hat das Telefon 555-0909."),
    ("phone", "555-0101", "warehouse code", "LX-9", "Our phone is down, the code is LX-9."),
    ("plan", "Komfort", "contract partner", "Premium", "Our contract partner for the plan is Premium."),
    ("meter number", "88120", "meter", "Landis", "The meter is a Landis."),
    ("phone", "555-0101", "mobile", "555-0202", "My mobile is 555-0202."),
]


def told(current: str, before: str, key: str, value: str, text: str) -> str:
    fact = known(before, key=current)
    given = proposal(kind=fact.kind, key=key, value=value, quote=text)
    return key_told(person(fact), key, given, source(text=text))


@pytest.mark.parametrize(("current", "before", "key", "value", "text"), ONE_KEY)
def test_one_thing_under_two_keys_had_two_values(current: str, before: str, key: str, value: str, text: str) -> None:
    """In another order, without its "number" where both look alike, or as the customer's own words name it."""
    assert told(current, before, key, value, text) == current


@pytest.mark.parametrize(("current", "before", "key", "value", "text"), TWO_KEYS)
def test_a_key_that_says_more_is_another_one(current: str, before: str, key: str, value: str, text: str) -> None:
    """So is one that the words name beside it, and one whose value is of another kind."""
    assert told(current, before, key, value, text) == key


@pytest.mark.parametrize(
    ("question", "key"),
    [("What is your new phone number?", "phone"), ("What is your new mobile number?", "mobile"), ("Thanks!", "mobile")],
)
def test_an_answer_was_kept_under_another_key_than_our_question_named(question: str, key: str) -> None:
    """A mail that says no more than the value is of what we asked last."""
    fact = known("555-0101", key="phone")
    given = proposal(kind=fact.kind, key="mobile", value="555-0202", quote="555-0202")
    assert key_told(person(fact), "mobile", given, source(text="555-0202", our_words=(question,))) == key
