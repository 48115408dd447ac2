"""What names a person is found in any text, and taken out of it without harming the rest."""

from __future__ import annotations

import pytest

from services.tools.erase.words import GONE, Marks, Redactor, marks, words_of

ADA = Redactor(frozenset({"ada@acme.example", "ada lovelace", "<a1@acme.example>"}), frozenset({"88123"}))
ID = "88123000-0000-4000-8000-000000088123"


def test_only_words_that_can_identify_and_that_nobody_else_used_are_searched() -> None:
    """Order numbers and rare words count; years, common words and what others wrote do not."""
    own = words_of("Hello, my order 88123 of 2026 is a zanzibarite export. Invoice 77456. Qué tal 12?")
    found = marks({"ada@acme.example", "Ada Lovelace"}, own, words_of("My invoice 77456 is late"))
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
    ],
)
def test_a_mark_is_a_whole_word_in_any_case_and_never_part_of_an_id(text: str, there: set[str]) -> None:
    """Ids, hashes and times are no text."""
    assert Marks(ADA.phrases, ADA.words).found_in(text) == there


def test_a_person_is_taken_out_of_what_others_wrote() -> None:
    """Entries that are the person go, names in texts are blanked, ids and everything else stay."""
    value = {
        "thread_id": ID,
        "to": [{"name": "Ada", "addr": "Ada@acme.example"}, {"name": "Bob", "addr": "bob@acme.example"}],
        "participants": ["ada@acme.example", "bob@acme.example"],
        "references": ["<a1@acme.example>", "<b1@x.example>"],
        "text": "As Ada Lovelace says, order 88123 is like mine, 77456.",
        "tokens": 12,
    }
    left = ADA.redacted(value)
    assert left == {
        "thread_id": ID,
        "to": [{"name": "Bob", "addr": "bob@acme.example"}],
        "participants": ["bob@acme.example"],
        "references": ["<b1@x.example>"],
        "text": f"As {GONE} says, order {GONE} is like mine, 77456.",
        "tokens": 12,
    }
    assert ADA.touches(value)
    assert not ADA.touches(left)
    assert len(GONE) <= len("88123"), "a quote that is cut to a length still fits"


def test_a_file_loses_the_name_and_nothing_else() -> None:
    """Where a file holds the name as plain text it is blanked; other bytes are as they were."""
    assert ADA.redacted_bytes(b"\x00\xffTo: ada@ACME.example\r\n") == b"\x00\xffTo: ...\r\n"
    assert Redactor(frozenset()).redacted_bytes(b"\x00\xff") == b"\x00\xff"
