"""Questions in other words than the documents', and what the offline model learns from a mail."""

from __future__ import annotations

from datetime import date

import pytest

from services.model.offline import tone
from services.model.offline.answers import MAYBE
from services.model.offline.facts import stated
from services.model.offline.matches import prose
from services.model.offline.view import Passage
from services.model.port import Layer, Request, Tool
from tests.support.offline import MODEL

CHUNKS = tuple(
    {"id": f"c{number}", "title": "Bicycles", "heading": heading, "text": text}
    for number, (heading, text) in enumerate(
        (
            (
                "Child seats",
                "A child seat may be mounted on the city model. Children under nine months must not be\ncarried.",
            ),
            ("Company bicycles", "Employers can lease from five pieces on, with a discount of twelve per cent."),
            ("Forgotten member number", "It stands on each invoice at the upper right."),
            ("The yearly inspection", "Each bicycle has to be inspected every twelve months."),
        )
    )
)


async def _reply(text: str, chunks: tuple[dict[str, str], ...] = CHUNKS) -> tuple[str, list[str]]:
    layers = Layer("knowledge", "", chunks), Layer("mail", text, ({"text": text},), trusted=False)
    answer = await MODEL.ask(Request("reply", "", layers, "", (Tool("reply", "", {}),)))
    given = answer.calls[-1].input
    return " ".join(str(given["text"]).split()), list(given["citations"])


async def test_a_question_without_a_word_of_the_document_was_not_answered() -> None:
    """What means the same is offered in the document's words, and asked back."""
    text, citations = await _reply("Our firm wants bikes for its staff. Is there a rebate?")
    assert "twelve per cent" in text
    assert "c1" in citations
    assert MAYBE in text


GERMAN = tuple(
    {"id": f"g{number}", "title": "Haus", "heading": heading, "text": text}
    for number, (heading, text) in enumerate(
        (
            ("Anfahrt", "Parken kann man zwei Stunden kostenlos in der Tiefgarage."),
            ("Öffnungszeiten", "Geöffnet ist montags bis freitags von 8 bis 12 Uhr."),
            ("Rechnungen", "Eine Rechnung ist innerhalb von 30 Tagen zu bezahlen; Raten sind möglich."),
            ("Tiere", "Hunde müssen draußen bleiben. Ausgenommen sind Blindenhunde."),
        )
    )
)
LONG = "Am Montag komme ich mit meiner Mutter aus Kassel zu Ihnen. Wo kann ich dort mein Auto abstellen?"


async def test_a_question_in_another_language_was_judged_as_an_english_one() -> None:
    """In another language an answer stands out by less, and is offered all the same."""
    text, citations = await _reply("Wann kann ich vorbeikommen?", GERMAN)
    assert MAYBE in text
    assert "g1" in citations


async def test_a_question_of_twelve_words_in_another_language_went_to_a_person() -> None:
    """What the documents offer to each question of a mail in another language is offered, however long it is put."""
    text, citations = await _reply(LONG, GERMAN)
    assert "Tiefgarage" in text
    assert "g0" in citations


@pytest.mark.parametrize(
    "said",
    [
        f"{LONG} Und warum hat sich Ihre Kollegin am Telefon so unfreundlich benommen?",
        LONG.replace("?", "."),
        f"{LONG} " + "Ich war schon oft bei Ihnen und habe mich immer wohl gefühlt. " * 3,
    ],
)
async def test_a_person_reads_what_is_not_only_a_question_in_another_language(said: str) -> None:
    """One question that nothing answers, none at all, or a long story: somebody reads that."""
    layers = Layer("knowledge", "", GERMAN), Layer("mail", said, ({"text": said},), trusted=False)
    answer = await MODEL.ask(Request("reply", "", layers, "", (Tool("reply", "", {}), Tool("escalate", "", {}))))
    assert [call.name for call in answer.calls] == ["escalate"]


async def test_a_word_that_two_texts_share_is_no_answer() -> None:
    """A sentence that shares a word with a question about something else is not stated as its answer."""
    text, _ = await _reply("Who is your managing director?")
    assert "do not want to guess" in text


def test_a_sentence_that_goes_on_in_the_next_line_was_cut() -> None:
    """Documents are wrapped; a sentence is whole all the same."""
    [first] = (one for one in prose(Passage("1", "t", "h", str(CHUNKS[0]["text"]))) if "Children" in one)
    assert first == "Children under nine months must not be carried."


@pytest.mark.parametrize(
    "said",
    [
        "We are switching to the Business plan.",
        "We have changed from Team to the Business plan.",
        'We moved to the plan called "Business".',
        "We went for the Business plan in the end.",
        "We are switching all of our twelve people to your Business tier.",
        "I have decided on the Business plan.",
    ],
)
def test_a_change_of_plan_in_other_words_was_not_learned(said: str) -> None:
    """A plan that somebody says they change to is known, however they say it."""
    assert [(one.key, one.value) for one in stated(said, date(2026, 5, 4))] == [("plan", "Business")]


@pytest.mark.parametrize(
    "said",
    [
        "We are switching to a competitor.",
        "Should we switch to the Business plan?",
        "We might go for the Business plan.",
    ],
)
def test_who_only_considers_a_plan_is_not_on_it(said: str) -> None:
    """Questions, doubts and other providers are no change of plan."""
    assert not [one for one in stated(said, date(2026, 5, 4)) if one.key == "plan"]


def test_the_next_invoice_was_an_issue() -> None:
    """A bill that is named is what a mail is about; just any bill is not, and becomes no fact."""
    assert tone.topic("What about our March invoice?") == "March invoice"
    assert tone.topic("When will our next invoice come?") == ""
    assert tone.issue_key("When will our next invoice come?") == ""
