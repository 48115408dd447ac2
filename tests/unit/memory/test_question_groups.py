"""Questions that ask the same stand in one group, whoever asks them and in whatever order; different ones do not."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest

from services.memory.embeddings import MiniLM, Vector
from services.memory.question_groups import Question, groups, says_enough, without_numbers

SAME = {
    "refund": ("How do I get a refund?", "Can I get my money back?", "How can I be refunded for my order?"),
    "sso": (
        "Do you support single sign-on with Okta?",
        "Does single sign-on work with Okta?",
        "Is there SSO for Okta users?",
    ),
    "export": ("How do I export my data as CSV?", "Can I export all data to a CSV file?"),
    "size": ("What is the largest file I can upload?", "How large may an uploaded file be?"),
    "seats": ("How many seats does the Team plan have?",),
    "delete": ("How do I delete my account?", "Can you tell me how to delete our account?"),
}


def asked(texts: list[str]) -> list[Question]:
    """The questions, asked a minute after one another."""
    start = datetime(2026, 11, 1, tzinfo=UTC)
    return [Question(text, UUID(int=at), start + timedelta(minutes=at)) for at, text in enumerate(texts)]


def vectors(questions: list[Question]) -> list[Vector]:
    """What the product's own embedder makes of them."""
    return MiniLM().embed_now([without_numbers(one.text) for one in questions])


def found(questions: list[Question]) -> set[frozenset[str]]:
    """The groups as sets of words."""
    return {frozenset(one.text for one in some) for some in groups(questions, vectors(questions))}


def test_questions_in_other_words_are_one_group_and_other_questions_are_others() -> None:
    """No two of the six things that are asked here are put together, and at most one wording stands alone."""
    questions = asked([text for texts in SAME.values() for text in texts])
    made = found(questions)
    topic = {text: name for name, texts in SAME.items() for text in texts}
    assert all(len({topic[text] for text in some}) == 1 for some in made)
    assert len(made) <= len(SAME) + 1


@pytest.mark.parametrize("seed", range(5))
def test_the_order_in_which_they_are_given_changes_nothing(seed: int) -> None:
    """Groups, leaders and the order within a group follow from the questions alone."""
    questions = asked([text for texts in SAME.values() for text in texts])
    before = {tuple(some) for some in groups(questions, vectors(questions))}
    random.Random(seed).shuffle(questions)
    assert {tuple(some) for some in groups(questions, vectors(questions))} == before


def test_numbers_keep_nobody_apart() -> None:
    """Whose order it is says nothing of what is asked."""
    texts = ["Where is my order 4711 from Monday?", "Where is my order A-9932 from Monday?"]
    assert found(asked(texts)) == {frozenset(texts)}


def test_a_question_without_content_is_none() -> None:
    """Greetings and single words say nothing of what is asked."""
    assert not says_enough("How are you?")
    assert not says_enough("???")
    assert not says_enough("4711 0815?")
    assert says_enough("How do I export my data?")


def test_nothing_is_in_no_group() -> None:
    """No question, no group."""
    assert groups([], []) == []
