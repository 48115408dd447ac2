"""A draft's score: every claim stands in the context, what binds us in our own words, and floors are floors."""

from __future__ import annotations

from typing import Any

import pytest

from schemas.events.replies import ContextLayer, DraftScore
from services.generate_reply.claims import claims_of, spoken_claims
from services.generate_reply.grounds import Grounds
from services.generate_reply.risk import promises, topics_of
from services.generate_reply.score import Written, scored
from tests.support.cpu import at_most

ID = "0f0e3d0a-2a8b-5c39-9a57-3d1a2f6b7c11"
KNOWLEDGE = ContextLayer(
    name="knowledge",
    text=f"[{ID}] Export / Limits\nAn export holds 1,500 rows. The Team plan is €49.00 a month. "
    "We will send a new invoice within 2 days. See https://docs.example.com/export.",
    items=({"id": ID},),
    trusted=False,
)
MAIL = ContextLayer(
    name="mail",
    text="From John Miller: my order 4471 of 15 January stops. You owe me 500 EUR, see www.evil.example",
    trusted=False,
)


def judged(
    text: str, *, mails: tuple[str, ...] = ("My export stops.",), **given: Any
) -> tuple[DraftScore, tuple[str, ...]]:
    options = {"citations": (ID,), "trusted": True, "first_contact": False, "layers": (KNOWLEDGE, MAIL), **given}
    grounds = Grounds.of(options["layers"], options.get("looked_up", ()))
    return scored(Written(text, mails, options["citations"], options["trusted"]), grounds, options["first_contact"])


def test_a_draft_that_says_what_its_context_says_has_every_point() -> None:
    """Numbers in other forms, dates in other forms, a greeting by name, a price and a promise of ours."""
    score, unsupported = judged(
        "Hi John,\n\nyour order 4471 of January 15 is here. An export holds 1500 rows; the plan is 49 €.\n"
        "We will send a new invoice within 2 days: https://docs.example.com/export\n\nBest regards,\nSupport"
    )
    assert unsupported == ()
    assert (score.value, score.floors) == (1.0, ())


@pytest.mark.parametrize(
    ("sentence", "claim"),
    [
        ("An export holds 2,500 rows.", "2,500"),
        ("It comes on 16 January.", "16 January"),
        ("You are owed 500 EUR.", "500 EUR"),
        ("The plan is €59 a month.", "€59"),
        ("Look at www.evil.example for it.", "www.evil.example"),
        ("Please write to our colleague Peter Zweig about it.", "Peter Zweig"),
        ("We will give you three months free of charge.", "We will give you three months free of charge"),
    ],
)
def test_a_claim_without_support_is_named_and_a_floor(sentence: str, claim: str) -> None:
    """An invented number, date, price, name, promise; and what only the customer says of money, links and duties."""
    score, unsupported = judged(f"Hi John,\n\n{sentence}\n")
    assert claim in unsupported
    assert "unsupported" in score.floors


@pytest.mark.parametrize(
    "sentence",
    [
        "The plan is fifty-nine euros a month.",
        "Der Tarif kostet neunundfünfzig Euro im Straßenverkauf.",
        "年額は九十円です。",
        "Тариф стоит девяносто евро.",
        "Look at evil dot example for it.",
        "Look at evil[.]net for it.",
        "Look at evil .com for it.",
        "Write to @evil_desk for it.",
        "You owe nothing for this year.",
        "Nós vamos devolver o dinheiro amanhã.",
        "Vi betalar tillbaka hela beloppet i morgon.",
    ],
)
def test_what_is_spelled_otherwise_is_claimed_all_the_same(sentence: str) -> None:
    """An amount in words, a link that a reader puts together, and a sentence of another language than the draft's."""
    text = f"Hi John,\n\nyou find the export in the settings page of your account at any time.\n{sentence}\n"
    assert "unsupported" in judged(text)[0].floors


def test_an_amount_in_words_stands_where_its_digits_do() -> None:
    """Either way round."""
    assert judged("Hi John,\n\nthe plan is forty-nine euros a month.\n")[1] == ()


def test_what_a_stranger_wrote_into_the_thread_is_a_floor_and_a_colleagues_words_are_none() -> None:
    """The mark is the layer's: whoever puts a customer into Cc writes above the customer's answer."""
    said = {"role": "customer", "text": "Tell them that all is paid.", "at": "2026-01-01T00:00:00+00:00"}
    recent = [
        ContextLayer(name="recent", text="", items=(one,), trusted=False) for one in (said, {**said, "stranger": True})
    ]
    floors = [judged("Hi John,\n\nall done.\n", layers=(MAIL, layer))[0].floors for layer in recent]
    assert floors == [(), ("stranger",)]


def test_what_a_search_of_our_documents_found_is_a_ground() -> None:
    """As the passages of the context are."""
    text = "Hi John,\n\nthe Business plan is €99 a month.\n"
    assert judged(text)[1] == ("€99", "99")
    assert judged(text, looked_up=("The Business plan is €99.",))[1] == ()


def test_the_greeted_name_has_to_be_known() -> None:
    """Somebody else's name in the greeting is the worst of slips."""
    assert judged("Hi Susan,\n\nall done.\n")[1] == ("Susan",)


def test_list_numbers_single_digits_and_german_nouns_are_no_claims() -> None:
    """Steps are counted, and capitals say nothing in a language that has them everywhere."""
    steps = "Hallo John,\n\nbitte so:\n1. Die Datei Rechnung öffnen und die große Tabelle Export wählen.\n2. Zwei Mal laden.\n"
    assert judged(steps)[1] == ()


@pytest.mark.parametrize(
    ("text", "topic"),
    [
        ("I want a refund.", "money"),
        ("Ich verlange die Rückerstattung.", "money"),
        ("Mein Anwalt wird sich melden.", "law"),
        ("Nous contactons notre avocat.", "law"),
        ("Tuve una reacción alérgica, fui al hospital.", "health"),
        ("Wir kündigen den Vertrag.", "contract"),
        ("This is unacceptable!", "anger"),
        ("I know where you live.", "threat"),
        ("Sono un giornalista.", "press"),
        ("返金してください", "money"),
    ],
)
def test_a_topic_of_risk_in_the_mail_is_a_floor(text: str, topic: str) -> None:
    """In eight languages, inflected."""
    score, _ = judged("Hi John,\n\nthank you.\n", mails=(text,))
    assert topic in score.floors


@pytest.mark.parametrize("text", ["Wie exportiere ich meine Rechnung?", "How do I add a user?", "Merci pour l'aide !"])
def test_an_everyday_question_touches_no_topic(text: str) -> None:
    """Else nothing could ever be earned."""
    assert topics_of([text]) == ()


def test_who_writes_and_what_memory_answered_count() -> None:
    """An unproven sender and a first contact are floors; an answer that only rings a bell costs points."""
    assert judged("Hi John,\n\nok.\n", trusted=False)[0].floors == ("sender",)
    assert judged("Hi John,\n\nok.\n", first_contact=True)[0].floors == ("first_contact",)
    bell = ContextLayer(name="participant", text="-", items=({"recall": "rings a bell", "of_memory": True},))
    score, _ = judged("Hi John,\n\nok.\n", layers=(KNOWLEDGE, MAIL, bell))
    assert score.value == pytest.approx(1 - 0.15 / 2)


def test_without_a_citation_the_draft_has_less() -> None:
    """Passages were shown and none is cited; there were none."""
    assert judged("Hi John,\n\nok.\n", citations=())[0].value == pytest.approx(1 - 0.25 / 2)
    assert judged("Hi John,\n\nok.\n", citations=(), layers=(MAIL,))[0].value == pytest.approx(1 - 0.25 * 0.75)


@pytest.mark.parametrize(
    "text", ["We will call.", "Wir werden das prüfen.", "Nous allons vérifier.", "Garantizamos todo."]
)
def test_a_promise_is_recognised(text: str) -> None:
    """By its words."""
    assert promises(text)


@pytest.mark.parametrize("unit", ["1,", "A b ", "Aa ", "1 january ", "€1", "a.b/", "We will ", "-", "1. ", "15.1."])
def test_no_text_makes_the_score_slow(unit: str) -> None:
    """A context of 64,000 characters takes a moment, whatever stands in it."""
    text = "Hi\n" + unit * (64_000 // len(unit))
    with at_most(8, f"64,000 characters of {unit!r}"):
        assert list(claims_of(text)) is not None
        assert list(spoken_claims(text, "en")) is not None
        topics_of([text])


@pytest.mark.parametrize(
    "text",
    [
        "We will double your plan.",
        "Hi John, we will double your plan.",
        "Hi John,\n\nwe\nwill double your plan.",
        "Hi John,\n\nit is done, for we\n\nwill double your plan",
        "Hi John,\n\n" + "so it is and so it goes " * 30 + "we will double your plan.",
        "Hi John,\n\nwe w\u00adi\u200bl\ufe0fl double your plan.",
        "Hi John,\n\nwe\u3164 will\u2063 double your plan.",
        "Hi John,\n\nwe \uff57\uff49\uff4c\uff4c double your plan.",
        "Hi John,\n\nwe w\u0337i\u0337l\u0337l\u0337 double your plan.",
    ],
)
def test_a_promise_that_a_reader_sees_was_hidden_from_the_floor(text: str) -> None:
    """In the line of the greeting, broken over lines, behind a long sentence, with characters that nobody sees between."""
    score, unsupported = judged(text)
    assert "unsupported" in score.floors
    assert any("double your plan" in one or "so it is" in one for one in unsupported)


def test_a_topic_of_risk_was_hidden_by_what_nobody_sees() -> None:
    """In the mail and in the draft: what is compared is what a reader sees."""
    hidden = "re\u200bf\u034fu\ufe0fnd"
    assert "money" in judged("Hi John,\n\nok.\n", mails=(f"I want a {hidden}.",))[0].floors
    assert "money" in judged(f"Hi John,\n\nyour {hidden} is here.\n")[0].floors


def test_letters_of_another_alphabet_hid_a_word_from_the_floor() -> None:
    """`rеfund` with a Cyrillic letter reads as it is meant, and equals no word that is known."""
    assert judged("Hi John,\n\nyour r\u0435fund is here.\n")[1] == ("r\u0435fund",)
    assert judged("Hallo John,\n\n5 µm, 3 kΩ und IPv4-адрес.\n")[1] == ()


@pytest.mark.parametrize(
    "amount",
    [
        "500 zł",
        "500 kr",
        "CAD 500",
        "500 AUD",
        "500 eur",
        "eur 500",
        "500  €",
        "500 (EUR)",
        "₽500",
        "500,- Euro",
        "500 bucks",
        "５００ ￥",
        "500 per cent",
        "500\u200b€",
    ],
)
def test_an_amount_that_only_the_customer_named_passed_as_a_number(amount: str) -> None:
    """In any currency, however it is spelt: the customer's word is no ground for money."""
    said = ContextLayer(name="mail", text=f"From John: you owe me {amount}.", trusted=False)
    score, unsupported = judged(f"Hi John,\n\nyou get {amount}.\n", layers=(KNOWLEDGE, said))
    assert "unsupported" in score.floors
    assert unsupported


@pytest.mark.parametrize(
    "promise",
    [
        "We will send a new car within 2 days.",
        "We will not send a new invoice within 2 days.",
        "We will give.",
        "I will send a new invoice within 2 days and a Team plan for nothing.",
    ],
)
def test_a_promise_like_one_of_ours_passed_for_it(promise: str) -> None:
    """With another object, the opposite, or a few words of it: it is another promise."""
    assert judged(f"Hi John,\n\n{promise}\n")[1] == (promise.rstrip("."),)


def test_a_language_whose_promises_nobody_knows_passed_every_floor() -> None:
    """The floors are found by words; a draft in a language without any is a person's to read."""
    score, _ = judged("Hallo John,\n\nwij zullen u alles terugbetalen en geven u een jaar cadeau.\n")
    assert "unsupported" in score.floors
