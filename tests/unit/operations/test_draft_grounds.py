"""Where a draft's sentences come from."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.events.replies import ContextLayer
from services.operations.drafts.grounds import grounds_of, parts_of
from tests.support.cpu import at_most

PASSAGE, OTHER, FACT, MAIL = "p1", "p2", "f1", "m1"
LAYERS = (
    ContextLayer(
        name="knowledge",
        text="",
        items=(
            {"id": PASSAGE, "title": "Billing", "text": "Invoices are issued monthly and are due within 15 days."},
            {"id": OTHER, "title": "Plans", "text": "The Enterprise plan costs 900 dollars every month."},
        ),
    ),
    ContextLayer(
        name="participant",
        text="",
        items=(
            {"id": FACT, "key": "plan", "value": "Enterprise", "text": "They are on the Enterprise plan."},
            {"x": 1},
        ),
    ),
    ContextLayer(
        name="behaviours",
        text="",
        items=(
            {"rule": "Close with this sentence, in these words: Answer 'human' and a person takes over."},
            {"rule": "We promise no refund and no discount."},
        ),
    ),
    ContextLayer(
        name="mail", text="", items=({"mail_id": MAIL, "subject": "CSV", "text": "The CSV export stops at row 70."},)
    ),
)
GROUNDS = grounds_of(LAYERS, [PASSAGE])


@pytest.mark.parametrize(
    ("sentence", "id"),
    [
        ("Invoices are issued monthly, and are due within 15 days.", PASSAGE),
        ("Invoices are issued monthly, and are due within 30 days.", None),  # the number stands nowhere
        ("As far as I remember, you are on the Enterprise plan.", FACT),
        ("You wrote that the CSV export stops at row 70.", MAIL),
        ("The Enterprise plan costs 900 dollars every month.", None),  # cited is no passage, and no fact has the number
        ("Answer 'human' and a person takes over.", "rule-0"),
        ("We promise you a refund and a discount.", None),  # the rule says the contrary
        ("Refunds arrive after seven working days.", None),
    ],
)
def test_a_sentence_has_the_source_that_holds_its_words(sentence: str, id: str | None) -> None:
    """Most of its words and all of its numbers; a passage that the draft does not cite is none."""
    (part,) = parts_of(sentence, GROUNDS)
    assert part.says
    assert (part.ground.id if part.ground else None) == id


def test_a_price_was_said_to_rest_on_the_customers_plan() -> None:
    """Of a cited passage with the price and a fact that only names the plan, the passage is the source."""
    (part,) = parts_of("The Enterprise plan costs 900 dollars every month.", grounds_of(LAYERS, [PASSAGE, OTHER]))
    assert part.ground
    assert part.ground.id == OTHER


@pytest.mark.parametrize("text", ["Hi John,\n\n", "Best regards,\nGrace", "Thanks!"])
def test_a_greeting_needs_no_source(text: str) -> None:
    """What says nothing is not marked as saying it without a source."""
    assert not any(part.says for part in parts_of(text, GROUNDS))


@given(st.text(max_size=400) | st.text(alphabet=".!? \n\r\tab1", max_size=400))
def test_the_parts_are_the_text(text: str) -> None:
    """Whatever the text is, nothing of it is lost, doubled or changed."""
    assert "".join(part.text for part in parts_of(text, GROUNDS)) == text


@pytest.mark.parametrize("text", ["." * 100_000, "a." * 50_000, " " * 100_000, "a " * 50_000, "a.b" * 33_000 + "\n"])
def test_no_text_takes_long(text: str) -> None:
    """Hostile text is cut in linear time."""
    with at_most(5):
        assert "".join(part.text for part in parts_of(text, GROUNDS)) == text


@pytest.mark.parametrize(
    "sentence",
    [
        "Invoices are not issued monthly, and are never due within 15 days.",
        "Invoices are n\u200bot issued monthly, and are due within 15 days.",
        "The CSV export never stops at row 70.",
    ],
)
def test_the_opposite_of_a_source_was_said_to_rest_on_it(sentence: str) -> None:
    """Its words stand there, one of them apart that turns all the others round."""
    (part,) = parts_of(sentence, GROUNDS)
    assert part.ground is None


def test_a_fact_that_denies_was_the_source_of_what_it_denies() -> None:
    """`They do not use SSO` says nothing for a sentence that says they do."""
    item = {"id": FACT, "key": "SSO login", "value": "SSO login", "text": "They do not use the SSO login."}
    grounds = grounds_of([ContextLayer(name="participant", text="", items=(item,))], [])
    (part,) = parts_of("You already use the SSO login there.", grounds)
    assert part.ground is None
