"""What a layer above says already is left out of those below; whatever says anything besides stays."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.events.replies import ContextLayer
from services.load_memory.repeats import Said, sentences
from services.load_memory.section import entry, entry_of, section

FACT = ContextLayer(
    name="participant",
    text="- [00000000-0000-0000-0000-000000000001] customer_info/plan: Ada Miller is on the Enterprise plan. (since March)",
    items=({"key": "plan", "text": "Ada Miller is on the Enterprise plan."},),
)


def left(text: str, layer: ContextLayer = FACT) -> str:
    """What of a text stays below a layer."""
    said = Said(["Ada Miller"])
    said.add(layer)
    return "".join(one.text for one in said.news(section([entry_of(sentences(text))])).entries)


@pytest.mark.parametrize(
    "text", ["Plan: Enterprise.", "Ada is on the Enterprise plan.", "They are on the enterprise plan"]
)
def test_the_same_in_other_words_is_left_out(text: str) -> None:
    """The author's names and small words apart, one sentence above has all its words."""
    assert left(text) == ""


@pytest.mark.parametrize(
    "text",
    [
        "Ada is not on the Enterprise plan.",
        "Ada was on the Enterprise plan.",
        "Ada is on the Enterprise plan with 40 seats.",
        "Enterprise.",
        "Ada Miller.",
        "They prefer the Team plan.",
    ],
)
def test_what_says_anything_besides_stays(text: str) -> None:
    """A denial, another time, a number, a single word, and what no sentence above has."""
    assert left(text) == text


@pytest.mark.parametrize(
    ("above", "text"),
    [
        ("Ada Miller is not on the Enterprise plan.", "Ada is on the Enterprise plan."),
        ("Ada Miller ist nicht im Enterprise-Tarif.", "Ada ist im Enterprise-Tarif."),
    ],
)
def test_what_a_denial_above_denies_was_left_out(above: str, text: str) -> None:
    """Only another denial repeats a denial, in any language that we know."""
    assert left(text, ContextLayer(name="participant", text=above)) == text
    assert left(above, ContextLayer(name="participant", text=above)) == ""


@pytest.mark.parametrize(
    ("above", "text"),
    [
        ("Ada Miller ist jetzt im Enterprise-Tarif.", "Ada ist jetzt in dem Tarif Enterprise."),
        ("Le forfait de la société est Enterprise.", "La société a le forfait Enterprise."),
        ("El plan de la empresa es Enterprise.", "Enterprise es el plan de la empresa."),
    ],
)
def test_small_words_of_other_languages_made_a_repeat_new(above: str, text: str) -> None:
    """What holds a sentence together says nothing new in any language; that it was so does."""
    assert left(text, ContextLayer(name="participant", text=above)) == ""


def test_what_was_so_is_no_repeat_of_what_is() -> None:
    """In any language."""
    above = ContextLayer(name="participant", text="Ada ist im Enterprise-Tarif.")
    assert left("Ada war im Enterprise-Tarif.", above) == "Ada war im Enterprise-Tarif."


def test_a_few_words_out_of_a_long_sentence_are_no_repeat() -> None:
    """Words that stand far apart above may say something else together."""
    long = ContextLayer(name="brief", text="They moved from the Starter plan to Enterprise last March for more seats.")
    assert left("They are on the Starter plan.", long) == "They are on the Starter plan."


def test_a_fact_that_the_profile_has_keeps_its_id() -> None:
    """A correction still finds it: the line stays, and its sentence reads "as above"."""
    said = Said()
    said.add(ContextLayer(name="profile", text="- plan: Enterprise"))
    fact = entry_of(["On the Enterprise plan."], "- [id] customer_info/plan: ", " (since March)", above="as above")
    (left,) = said.news(section([fact])).entries
    assert left.text == "- [id] customer_info/plan: as above (since March)"


def test_entries_that_offer_no_parts_are_never_shortened() -> None:
    """Mails, messages and goals stay as they were written."""
    said = Said()
    said.add(FACT)
    whole = section([entry("Ada Miller is on the Enterprise plan.")])
    assert said.news(whole) == whole


@given(st.text(st.sampled_from("ab .!?。\n\"'»)4")))
def test_sentences_together_are_the_text(text: str) -> None:
    """Nothing is lost between them."""
    assert "".join(sentences(text)) == text
