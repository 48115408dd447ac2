"""Which of a query's words are worth looking up in a large memory.

A word that stands in every tenth fact says little and costs much: OR-ed with the others it makes Postgres
read tens of thousands of rows. The rarest words are looked up until their matches reach a cap.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Word:
    """A stem, the estimated number of facts that hold it, and the number of all facts."""

    lexeme: str
    documents: float
    total: float

    @property
    def rarity(self) -> float:
        """Its inverse document frequency, as BM25 weighs it; above 0."""
        return math.log(1 + (self.total - self.documents + 0.5) / (self.documents + 0.5))


def rare_words(words: Iterable[Word], cap: int) -> list[Word]:
    """The rarest words, while they match at most `cap` facts together; the rarest one always."""
    chosen: list[Word] = []
    matches = 0.0
    for word in sorted(words, key=lambda word: (word.documents, word.lexeme)):
        matches += word.documents
        if chosen and matches > cap:
            break
        chosen.append(word)
    return chosen


def tsquery(words: Iterable[Word]) -> str:
    """The OR of the words in the text form of a tsquery; empty where there are none."""
    return " | ".join("'" + word.lexeme.replace("\\", "\\\\").replace("'", "''") + "'" for word in words)
