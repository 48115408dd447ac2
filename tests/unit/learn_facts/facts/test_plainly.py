"""What is said plainly takes a place; what is said otherwise makes it to be confirmed."""

from __future__ import annotations

import pytest

from services.learn_facts.facts.plainly import bears_on, is_passed_over, says_plainly
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
    ("city", "Modena", "Dal mese scorso la nostra sede è a Modena."),
    ("plan", "Max", "I see on the invoice that I am on the Max plan."),
    ("plan", "Max", "Ich habe gemerkt, dass wir im Tarif Max sind."),
    ("plan", "Max", "It turns out that our plan is Max."),
    ("plan", "Max", "Es stellt sich heraus, dass wir den Tarif Max haben."),
    ("plan", "Max", "Never mind, leave us on Max."),
    ("plan", "Max", "La semaine dernière nous sommes passés à la formule Max."),
    ("phone", "0171 7788", "Kind regards\nIngrid Holm\nTel. 0171 7788 (new!)"),
    ("doctor", "Dr Blum", "I see Dr Blum these days."),
    ("delivery address", "Calle Luna 9", "Por favor, entreguen a partir de ahora en Calle Luna 9."),
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
    ("phone", "699 00 11", "El fontanero me dejó su teléfono, 699 00 11, por si les sirve."),
    ("plan", "Max", "The brochure praises a plan: Max."),
    ("renewal date", "2 February 2027", "The renewal date is 15 April 2027, the invoice came on 2 February 2027."),
    ("city", "奈良", "奈良に引っ越す話は白紙になりました。"),
    ("house number", "18", "Het pakket ligt bij de buurvrouw op huisnummer 18."),
    ("delivery address", "Am Anger 8", "Das Paket liegt seit Tagen bei Am Anger 8."),
    ("room", "412", "412号室がとてもうるさかったです。"),
    ("doctor", "Dr Lis", "Dr Lis tylko zastępował go w lipcu."),
]


FIRST = [
    ("class teacher", "Mrs Dale", "His class teacher is Mrs Dale."),
    ("teacher", "Mrs Dale", "Tim's teacher is Mrs Dale."),
    ("maestra", "Anna Rossi", "La sua maestra è Anna Rossi."),
    ("class", "3a", "Our son Tim goes to class 3a."),
    ("school", "Oak Primary", "Our children attend Oak Primary."),
    ("license plate", "AB-123", "Our car has the license plate AB-123."),
    ("nights", "4", "We are staying for 4 nights."),
    ("dose", "10 mg", "Ich nehme 10 mg täglich."),
]
NOBODYS = [
    ("phone", "555-0202", "His phone is 555-0202."),
    ("teacher", "Mrs Dale", "Your teacher is Mrs Dale."),
    ("license plate", "AB-123", "A car has the license plate AB-123."),
]


def _says(key: str, value: str, text: str, *current: str) -> bool:
    span = find_quote(text, text)
    assert span is not None
    return says_plainly(value, key, span, text, current)


@pytest.mark.parametrize(("key", "value", "text"), PLAIN)
def test_a_plain_statement_is_known_by_the_words_that_lead_to_its_value(key: str, value: str, text: str) -> None:
    """The author or the key, a verb of being, having or change, and small words."""
    assert _says(key, value, text)


@pytest.mark.parametrize(("key", "value", "text"), FIRST)
def test_a_first_plain_statement_was_to_be_confirmed(key: str, value: str, text: str) -> None:
    """Also of the author's child, who is named or only "her", of a thing of theirs, and how often or how long."""
    assert _says(key, value, text)


@pytest.mark.parametrize(("key", "value", "text"), NOBODYS)
def test_what_is_told_of_a_child_makes_nothing_else_the_authors(key: str, value: str, text: str) -> None:
    """A telephone is no child's, the reader's child is not the author's, and neither is a thing of nobody's."""
    assert not _says(key, value, text)


@pytest.mark.parametrize(("key", "value", "text"), NOT_PLAIN)
def test_a_word_that_may_say_anything_makes_it_not_plain(key: str, value: str, text: str) -> None:
    """A noun or a verb of another kind stands between, or the author is only whom something is done to."""
    assert not _says(key, value, text)


def test_a_value_that_stands_is_the_authors() -> None:
    """What is said of it is said of them: "Acme Ltd is called Borealis Ltd"."""
    assert _says("company", "Borealis Ltd", "Acme Ltd is called Borealis Ltd.", "Acme Ltd")
    assert not _says("company", "Borealis Ltd", "Globex Ltd is called Borealis Ltd.", "Acme Ltd")
    assert not _says("doctor", "Dr Blum", "Dr Meyer sent me to Dr Blum.", "Dr Meyer")


def test_of_a_concluded_value_nothing_is_known() -> None:
    """Then the lists of moods alone decide, unless the words say the value that stands."""
    assert _says("city", "Munich", "Wir sind nach München umgezogen.")
    assert not _says("role", "head of sales", "I am head of operations, so Priya has sales.", "head of operations")


MAY_BE_MEANT = [
    ("plan", "Max", "Your colleague upgraded me to Max this morning."),
    ("seats", "31", "The payroll lists 31 people as of Monday."),
    ("city", "Bonn", "Since May everything goes to Bonn. Leeds is empty."),
    (
        "delivery address",
        "Am Markt 9, 28195 Bremen",
        "Bitte ändern Sie meine Lieferadresse auf Am Markt 9, 28195 Bremen.",
    ),
    ("city", "Munich", "Post bitte nach München."),
]
NOT_MEANT = [
    ("plan", "Max", "Mind you, Max would have been nice, had the budget allowed."),
    ("city", "York", "Half of the team dreams of York; nobody has budget for it."),
    ("company", "Pinnacle", "Pinnacle keeps calling with offers."),
    ("plan", "Max", "Von wegen Max! Davon kann keine Rede sein."),
    ("order number", "A-2002", "His sister's order number, A-2002, came up."),
    ("phone", "699 00 11", "Aquí está su teléfono: 699 00 11."),
    ("license plate", "HH-XY 99", "Vor meiner Einfahrt steht HH-XY 99."),
    ("doctor", "Dr Marsh", "Dr Marsh stood in for Leeds last Tuesday."),
    ("city", "York", "See below.\n\n> We moved to York."),
    ("plan", "Max", "I asked to be moved to Max. Never mind, leave us on the Leeds plan."),
    ("room", "412", "En la habitación 412 había una fiesta."),
]


@pytest.mark.parametrize(("key", "value", "text"), MAY_BE_MEANT)
def test_words_that_name_the_author_the_key_or_a_change_bear_on_what_stands(key: str, value: str, text: str) -> None:
    """So do those that speak of what stands and do not say it; and nobody can tell of a value that is only concluded."""
    assert bears_on(value, key, text, ["Leeds"])


@pytest.mark.parametrize(("key", "value", "text"), NOT_MEANT)
def test_a_mistaken_extraction_from_anything_made_what_stands_doubtful(key: str, value: str, text: str) -> None:
    """Words of nobody, or of somebody else, are a reason to doubt the model and none to doubt what stands."""
    assert not bears_on(value, key, text, ["Leeds"])


PASSED_OVER = [
    ("address", "14 Elm Court", "Since May everything goes to 9 Quarry Lane. 14 Elm Court is empty."),
    ("contact person", "Anna", "Our contact person is now Joel, Anna is on leave for good."),
    ("meter number", "55120", "The number 55120 is on the lid. Our meter number is 55210."),
]
SPOKEN_FOR = [
    ("plan", "Basic", "We are on Basic since Monday."),
    ("renewal date", "1 March 2027", "Der Vertrag verlängert sich am 1.3.2027."),
    ("plan", "Basic", "The Basic export is slow."),
]


@pytest.mark.parametrize(("key", "value", "text"), PASSED_OVER)
def test_a_mail_of_a_change_supported_the_value_that_it_left(key: str, value: str, text: str) -> None:
    """A value that is named and said plainly nowhere, beside a change or another value of its key, has no support."""
    assert is_passed_over(value, key, text)


@pytest.mark.parametrize(("key", "value", "text"), SPOKEN_FOR)
def test_what_is_said_plainly_or_beside_nothing_else_is_not_passed_over(key: str, value: str, text: str) -> None:
    """Nor is a value that a mail without any change only names."""
    assert not is_passed_over(value, key, text)
