"""What names a person is found in any text as a whole, and taken out of it without harming the rest."""

from __future__ import annotations

import pytest

from services.operations.erase.words import (
    GONE,
    Marks,
    Redactor,
    full_name,
    is_distinctive,
    marks,
    message_id,
    words_of,
)

MARKS = Marks(frozenset({"ada@acme.example", "ada lovelace"}), frozenset({"88123"}))
ADA = Redactor(MARKS.phrases, frozenset({"ada lovelace", "ada"}), frozenset({"a1@acme.example", "bob@acme.example"}))
ID = "88123000-0000-4000-8000-000000088123"


def test_only_words_that_can_identify_and_that_nobody_else_used_are_searched() -> None:
    """Order numbers and rare words count; years, common words and what others wrote do not."""
    own = words_of("Hello, my order 88123 of 2026 is a zanzibarite export. Invoice 77456. Qué tal 12?")
    found = marks({"ada@acme.example"}, {"Ada Lovelace"}, set(), own).without(words_of("My invoice 77456 is late"))
    assert found.phrases == {"ada@acme.example", "ada lovelace"}
    assert found.words == {"88123", "zanzibarite", "ada", "lovelace"}


@pytest.mark.parametrize(
    ("text", "there"),
    [
        ("Order 88123 is late", {"88123"}),
        ("order-88123!", {"88123"}),
        ("188123 and 881234", set()),
        (f"thread {ID} at 2026-01-05T09:00:00+00:00", set()),
        ("From: ADA LOVELACE <ada@ACME.example>", {"ada lovelace", "ada@acme.example"}),
        ("mailto:ada@acme.example?subject=x", {"ada@acme.example"}),
        ("'ada@acme.example'.", {"ada@acme.example"}),
        ("ziada@acme.example, o'ada@acme.example, x+ada@acme.example, x.ada@acme.example", set()),
        ("ada@acme.example.org, ada@acme.example-gmbh.com, ada@acme.examples", set()),
        ("Miranda Lovelace, Ada Lovelaces", set()),
        ("ada\u212a@acme.example", set()),
    ],
)
def test_a_mark_is_whole_in_any_case_and_never_part_of_an_id_or_of_another_address(text: str, there: set[str]) -> None:
    """Ids, hashes and times are no text; an address that ends like the person's is somebody else's."""
    assert MARKS.found_in(text) == there


def test_a_person_is_taken_out_of_what_others_wrote() -> None:
    """Entries that are the person go, names in texts are blanked; ids, attachments and everything else stay."""
    value = {
        "thread_id": ID,
        "to": [{"name": "Ada", "addr": "Ada@acme.example"}, {"name": "Bob", "addr": "bob@acme.example"}],
        "participants": ["ada@acme.example", "bob@acme.example"],
        "references": ["a1@acme.example", "b1@x.example"],
        "text": "As Ada Lovelace says, order 88123 is like mine, 77456. Ada <ADA@acme.example> wrote: no. (mada@acme.example)",
        "attachments": [{"filename": "for ada@acme.example"}],
        "tokens": 12,
    }
    left = ADA.redacted(value)
    assert left == {
        "thread_id": ID,
        "to": [{"name": "Bob", "addr": "bob@acme.example"}],
        "participants": ["bob@acme.example"],
        "references": ["b1@x.example"],
        "text": f"As {GONE} says, order 88123 is like mine, 77456. {GONE}> wrote: no. (mada@acme.example)",
        "attachments": [{"filename": "for ada@acme.example"}],
        "tokens": 12,
    }
    assert ADA.touches(value)
    assert not ADA.touches({**left, "attachments": []})


@pytest.mark.parametrize("name", ["bob@brackwater.example", "Bob <bob@brackwater.example>", "invoice", "", "  "])
def test_a_display_name_that_is_an_address_or_a_single_word_is_no_name(name: str) -> None:
    """Who calls himself by another's address does not make it his own."""
    assert full_name(name) == ""


def test_a_name_of_everybodys_words_is_searched_for_and_never_taken_out() -> None:
    """ "Order Number" may be somebody's display name; it is no claim on what others write."""
    assert full_name(" Order  Number ") == "order number"
    assert not is_distinctive("order number")
    assert is_distinctive("ada quillfeather")


@pytest.mark.parametrize("text", ["order number", "<a b@x.example>", "<>", "<a@b@c>"])
def test_a_message_id_that_is_none_is_not_searched_for(text: str) -> None:
    """The header is free text for whoever writes it."""
    assert message_id(text) == ""
    assert message_id("<A1@x.example>") == message_id("a1@X.example") == "a1@x.example"
