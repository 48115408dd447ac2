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


def test_a_long_table_keeps_its_head_over_each_piece() -> None:
    """A row without its head says nothing; no row is cut or lost."""
    rows = [f"| plan {number} | {number} dollars a month | for {number} people |" for number in range(60)]
    table = "\n".join(["| name | price | size |", "|---|---|---|", *rows])
    found = chunk(f"# Plans\n\n{table}\n")
    assert len(found) > 1
    assert {one.heading for one in found} == {"Plans"}
    assert all(one.text.startswith("| name | price | size |\n|---|---|---|\n") for one in found)
    assert [line for one in found for line in one.text.splitlines()[2:]] == rows


def test_a_long_list_is_cut_between_its_items() -> None:
    """Each piece ends with a whole item."""
    items = [f"- item {number} has six words" for number in range(80)]
    found = chunk("\n".join(items))
    assert len(found) > 1
    assert [line for one in found for line in one.text.splitlines()] == items


def test_an_underlined_heading_is_one() -> None:
    """Both ways of CommonMark to write a heading count."""
    text = "Refunds\n=======\n\nWithin 30 days.\n\nCards\n-----\nVisa."
    assert chunk(text) == [Chunk("Refunds", "Within 30 days."), Chunk("Refunds > Cards", "Visa.")]


def test_link_definitions_are_not_lost() -> None:
    """Markdown does not show them, but an address in them may be what is asked for."""
    found = chunk("# Links\n\n[docs]: https://docs.example/start\n\nSee the docs.\n\n[x]: https://x.example")
    assert "https://docs.example/start" in found[0].text
    assert "https://x.example" in found[0].text


def test_a_word_of_a_million_letters_is_cut() -> None:
    """Binary in disguise makes no passage that fills a prompt."""
    found = chunk("x" * 1_000_000)
    assert max(len(one.text) for one in found) <= 11 * MAX_WORDS
    assert sum(one.text.count("x") for one in found) == 1_000_000


def test_a_heading_of_a_hundred_kilobytes_was_written_over_each_passage() -> None:
    """Two hundred passages took 20 MB, and no index holds such a title: it is text, and nothing of it is lost."""
    heading = "word " * 20_000
    found = chunk(f"# {heading}\n\n" + "\n\n".join(f"## Part {n}\n\nIts text." for n in range(200)))
    assert sum(len(one.heading) for one in found) < 10_000
    assert sum(one.text.count("word") for one in found) == 20_000
    assert title_of(f"# {heading}", "Terms " * 1_000) == ("Terms " * 1_000)[:300]


def test_a_text_without_blanks_is_cut_at_its_sentences() -> None:
    """Chinese and Japanese put no blanks between words; a passage is as long as one in English all the same."""
    found = chunk("我们在三十天内退款。" * 600)
    assert len(found) > 2
    assert max(len(one.text) for one in found) <= 11 * MAX_WORDS
    assert all(one.text.endswith("。") for one in found)
    assert sum(one.text.count("退") for one in found) == 600
