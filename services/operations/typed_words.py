"""What somebody types to find something, as a query of Postgres' text search: each word, or how it begins."""

from __future__ import annotations

import re

MOST_WORDS, LONGEST_WORD = 8, 40
_WORD = re.compile(r"\w{1,200}")


def beginnings_of(typed: str) -> str:
    """For `to_tsquery`: every one of the first words has to be there, or a word that begins so. "" without a word."""
    return " & ".join(f"'{one[:LONGEST_WORD]}':*" for one in _WORD.findall(typed)[:MOST_WORDS])
