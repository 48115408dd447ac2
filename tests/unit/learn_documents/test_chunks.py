"""Markdown cut into passages that can be shown whole, under the headings that lead to them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.learn_documents.chunks import MAX_WORDS, Chunk, chunk, title_of

DOCUMENT = """Before any heading.

# Billing

How we bill.

## Refunds ##

Within 30 days.

Only once.

### Cards

By card.

## Invoices

Monthly.
"""


def test_a_passage_stands_under_the_headings_that_lead_to_it() -> None:
    """Deeper headings join the path, a heading of the same level replaces its sibling and what is below."""
    assert chunk(DOCUMENT) == [
        Chunk("", "Before any heading."),
        Chunk("Billing", "How we bill."),
        Chunk("Billing > Refunds", "Within 30 days.\n\nOnly once."),
        Chunk("Billing > Refunds > Cards", "By card."),
        Chunk("Billing > Invoices", "Monthly."),
    ]


def test_a_hash_in_code_is_no_heading() -> None:
    """What stands between fences is text, comments included."""
    text = "# Setup\n\n```sh\n# install\nmake\n```\n\nDone."
    assert [one.heading for one in chunk(text)] == ["Setup"]
    assert "# install" in chunk(text)[0].text


@pytest.mark.parametrize("text", ["", "\n\n \n", "# Only a heading", "# One\n## Two\n"])
def test_without_text_there_is_no_passage(text: str) -> None:
    """Headings alone are nothing to find."""
    assert chunk(text) == []


def test_a_long_paragraph_is_cut_between_sentences() -> None:
    """Each piece ends with a sentence, and none is lost."""
    sentences = [f"Sentence {number} has exactly six words." for number in range(100)]
    found = [one.text for one in chunk(" ".join(sentences))]
    assert len(found) > 1
    assert all(one.endswith("words.") for one in found)
    assert " ".join(found).split() == " ".join(sentences).split()


def test_text_without_sentences_is_cut_too() -> None:
    """A table or a list of words without a full stop still comes in passages that can be shown whole."""
    found = chunk("word " * 1000)
    assert [len(one.text.split()) for one in found] == [180, 180, 180, 180, 180, 100]


@given(st.text(st.sampled_from("ab .#\n`!"), max_size=400))
def test_no_word_is_lost_and_no_passage_is_too_long(text: str) -> None:
    """Whatever the document, every word outside its headings is in exactly one passage of bearable length."""
    found = chunk(text)
    assert all(0 < len(one.text.split()) <= MAX_WORDS for one in found)
    words = sum(len(one.text.split()) for one in found)
    assert words <= len(text.split())
    if "#" not in text:
        assert words == len(text.split())


@pytest.mark.parametrize(
    ("text", "title"),
    [("# Refunds #\n", "Refunds"), ("## Second only", "given"), ("", "given"), ("text\n# Late", "Late")],
)
def test_the_title_is_the_first_heading_of_the_first_level(text: str, title: str) -> None:
    """A document without such a heading keeps the title it was handed in with."""
    assert title_of(text, "given") == title
