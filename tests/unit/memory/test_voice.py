"""A question about somebody, in the words in which they would have said it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from services.memory.embeddings import Vector
from services.memory.voice import MOST, own_words, voiced


@pytest.mark.parametrize(
    ("question", "name", "said"),
    [
        ("What did Maria's dog like?", "Maria Lang", "What did my dog like?"),
        ("What did Maria Lang buy, and what Marian?", "Maria Lang", "What did I buy, and what Marian?"),
        ("Is James' dog ill, and James’s cat?", "James", "Is my dog ill, and my cat?"),
        ("When may we ship, and will it last?", "Will May", "When may we ship, and will it last?"),
        ("Maria Lang?", "Maria Lang", "Maria Lang?"),
        ("What did Żaneta buy?", "żaneta nowak", "What did I buy?"),
        ("Which ribbon?", "", "Which ribbon?"),
        ("Which ribbon did A.B. want?", "A.B. (.*)+", "Which ribbon did A.B. want?"),
    ],
)
def test_every_message_that_greets_a_name_lay_near_a_question_with_it(question: str, name: str, said: str) -> None:
    """Who is asked about said I; an ordinary word stays, and a name alone is a question."""
    assert voiced(question, [name]) == said


def test_a_name_of_a_thousand_words_costs_no_more_than_a_few() -> None:
    """A display name is what its sender likes."""
    name = " ".join(f"Wo{chr(97 + n // 26)}{chr(97 + n % 26)}" for n in range(600))
    last = name.split()[MOST - 1], name.split()[MOST]
    assert voiced(f"Did {last[0]} write?", [name]) == "Did I write?"
    assert voiced(f"Did {last[1]} write?", [name]) == f"Did {last[1]} write?"


class Listening:
    """An embedder that keeps what it was asked."""

    name, dimensions = "listening", 2

    def __init__(self) -> None:
        self.heard: list[str] = []

    async def embed(self, texts: Sequence[str]) -> list[Vector]:
        """One and the same vector for each."""
        self.heard.extend(texts)
        return [np.ones(2, dtype=np.float32) for _ in texts]


async def test_an_embedder_was_asked_once_more_for_a_question_that_names_nobody() -> None:
    """Only a question that is worded otherwise, in the language whose words for oneself are known, has two meanings."""
    embedder = Listening()
    assert await own_words(embedder, "Which ribbon?", ["Maria"], "en") is None
    assert await own_words(embedder, "Was wollte Maria?", ["Maria"], "de") is None
    assert embedder.heard == []
    assert await own_words(embedder, "What did Maria want?", ["Maria"], "en") is not None
    assert embedder.heard == ["What did I want?"]
