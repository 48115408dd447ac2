"""Questions that ask the same, as groups. Pure and deterministic: the same questions in any order give the same groups.

Two questions are alike where they are near in meaning or share most of their words; numbers, which name an order or a
day, do not count. The question with the most others alike leads a group of all that are alike to it, so that no chain
of small steps puts different questions together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from services.memory.embeddings import Vector
from services.memory.wording import content_of

NEAR = 0.62  # cosine from which two questions ask the same: tests/unit/memory/test_question_groups.py
SHARED = 0.6  # of the words of both
LEAST_WORDS = 2  # that say what a question is about, in the question and in what two of them share


@dataclass(frozen=True, slots=True)
class Question:
    """A question in the words of a mail, and when it was asked."""

    text: str
    mail_id: UUID
    at: datetime

    @property
    def place(self) -> tuple[datetime, UUID, str]:
        """Its place among all others."""
        return self.at, self.mail_id, self.text


def without_numbers(text: str) -> str:
    """A question without the words that hold a digit: what is compared, and embedded."""
    return " ".join(word for word in text.split() if not any(sign.isdigit() for sign in word))


def says_enough(text: str) -> bool:
    """Whether a question says what it is about."""
    return len(_words(text)) >= LEAST_WORDS


def groups(questions: Sequence[Question], vectors: Sequence[Vector]) -> list[list[Question]]:
    """The questions in groups, the leader of each first, then the newest first. `vectors` has length 1 for each."""
    order = sorted(range(len(questions)), key=lambda at: questions[at].place)
    alike = _alike([questions[at] for at in order], [vectors[at] for at in order])
    left = np.ones(len(order), dtype=bool)
    found: list[list[Question]] = []
    while left.any():
        counts = np.where(left, (alike & left).sum(axis=1), -1)
        lead = int(counts.argmax())  # the oldest of those with the most
        members = np.flatnonzero(alike[lead] & left)
        left[members] = False
        others = sorted((int(one) for one in members if one != lead), reverse=True)
        found.append([questions[order[one]] for one in (lead, *others)])
    return found


def _alike(questions: Sequence[Question], vectors: Sequence[Vector]) -> NDArray[np.bool_]:
    """Which questions are alike, of shape (n, n); each is alike to itself."""
    if not questions:
        return np.zeros((0, 0), dtype=bool)
    stacked = np.stack(vectors)
    near: NDArray[np.bool_] = (stacked @ stacked.T) >= NEAR
    every = [_words(one.text) for one in questions]
    columns = {word: at for at, word in enumerate(sorted(set().union(*every)))}
    said = np.zeros((len(questions), max(1, len(columns))), dtype=np.float32)
    for row, words in enumerate(every):
        said[row, [columns[word] for word in words]] = 1
    shared = said @ said.T
    sizes = said.sum(axis=1)
    either = np.maximum(sizes[:, None] + sizes[None, :] - shared, 1)
    same: NDArray[np.bool_] = near | ((shared >= LEAST_WORDS) & (shared / either >= SHARED))
    np.fill_diagonal(same, True)
    return same


def _words(text: str) -> frozenset[str]:
    return frozenset(content_of(without_numbers(text)))
