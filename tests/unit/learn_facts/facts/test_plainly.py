"""What is said plainly takes a place; what is said otherwise makes it to be confirmed."""

from __future__ import annotations

import pytest

from services.learn_facts.facts.plainly import says_plainly
from services.memory.quotes import find_quote

PLAIN = [
    ("plan", "Max", "We have been on Max since Monday."),
    ("plan", "Max", "Since the upgrade last Tuesday we are on Max and very happy."),
    ("plan", "Max", "We have decided to upgrade to the Max plan."),
    ("phone", "555-0202", "New mobile: 555-0202"),
    ("phone", "555-0202", "Bob's number is 555-0303 and mine is 555-0202 now."),
    ("city", "Bonn", "Unser Büro ist nach Bonn umgezogen."),
    ("plan", "Max", "Unser Tarif heißt jetzt Max."),
    ("seats", "90", "Nous payons pour quatre-vingt-dix postes."),
    ("city", "Sevilla", "Ahora estamos en Sevilla."),
    ("role", "CTO", "As the new CTO I will be your contact."),
    ("plan", "Max", "Please note that we are on Max now."),
    ("city", "Nice", "Wie besprochen sitzen wir jetzt in Nice."),
    ("phone", "555-0202", "Mon portable est le 555-0202."),
    ("seats", "14", "Two joined, so there are 14 of us now."),
    ("plan", "Max", "Je vous confirme que nous avons la formule Max."),
    ("seats", "52", "Twelve people joined, which brings us to 52 seats."),
    ("seats", "61", "Já vamos em 61 licenças."),
    ("city", "Breda", "Je vindt ons voortaan in Breda."),
]
NOT_PLAIN = [
    ("plan", "Max", "I noticed Max in the drop-down."),
    ("plan", "Max", "It makes no sense for us to be on Max."),
    ("city", "Rome", "We also have a warehouse in Rome."),
    ("city", "Rome", "My flight to Rome leaves at six."),
    ("seats", "7", "We have 7 tickets open with you."),
    ("phone", "555-0909", "Dana, who sits next to me, has 555-0909."),
    ("email", "b@x.example", "I got your mail via b@x.example."),
    ("email", "it@acme.example", "Please add it@acme.example as a second admin."),
    ("plan", "Max", "Max est trop cher pour nous."),
    ("plan", "Max", "Max nos queda grande."),
    ("city", "Vigo", "Nací en Vigo."),
    ("phone", "(312) 555-0160", "Anna Ruiz, who sits next to me, is at (312) 555-0160 if I'm out."),
    ("plan", "Max", "Selon Pierre nous avons la formule Max."),
    ("plan", "Max", "Il paraît que nous avons la formule Max."),
    ("plan", "Max", "Volgens Piet hebben we het abonnement Max."),
    ("plan", "Max", "Secondo Marco abbiamo il piano Max."),
    ("plan", "Max", "Según Marcos tenemos el plan Max."),
    ("plan", "Max", "Herrn Vogt zufolge sind wir im Tarif Max."),
    ("plan", "Max", "Word has it that we are on Max."),
    ("plan", "Max", "Radio couloir annonce que nous avons la formule Max."),
    ("plan", "Max", "Le forfait Max a de quoi convaincre."),
    ("plan", "Max", "Il piano Max ci fa gola."),
]


def _says(key: str, value: str, text: str, *standing: str) -> bool:
    span = find_quote(text, text)
    assert span is not None
    return says_plainly(value, key, span, text, standing)


@pytest.mark.parametrize(("key", "value", "text"), PLAIN)
def test_a_plain_statement_is_known_by_the_words_that_lead_to_its_value(key: str, value: str, text: str) -> None:
    """The author or the key, a verb of being, having or change, and small words."""
    assert _says(key, value, text)


@pytest.mark.parametrize(("key", "value", "text"), NOT_PLAIN)
def test_a_word_that_may_say_anything_makes_it_not_plain(key: str, value: str, text: str) -> None:
    """A noun or a verb of another kind stands between, or the author is only whom something is done to."""
    assert not _says(key, value, text)


def test_a_value_that_stands_is_the_authors() -> None:
    """What is said of it is said of them: "Acme Ltd is called Borealis Ltd"."""
    assert _says("company", "Borealis Ltd", "Acme Ltd is called Borealis Ltd.", "Acme Ltd")
    assert not _says("company", "Borealis Ltd", "Globex Ltd is called Borealis Ltd.", "Acme Ltd")


def test_of_a_concluded_value_nothing_is_known() -> None:
    """Then the lists of moods alone decide, unless the words say the value that stands."""
    assert _says("city", "Munich", "Wir sind nach München umgezogen.")
    assert not _says("role", "head of sales", "I am head of operations, so Priya has sales.", "head of operations")
