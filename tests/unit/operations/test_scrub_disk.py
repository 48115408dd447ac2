"""A word is found among the bytes of a server's file as a whole, in any case, and short ones are not looked for."""

from __future__ import annotations

import pytest

from services.operations.erase.words import Marks
from services.operations.scrub.disk import words_in_bytes

WORDS = words_in_bytes(
    Marks(
        frozenset({"ada@acme.example"}),
        frozenset({"zanzibarite", "ada", "eight", "8812", "88123", "großmann", "öffnung"}),
    )
)


@pytest.mark.parametrize(
    ("content", "there"),
    [
        (b"\x00\x17Zanzibarite\x00", {"zanzibarite"}),
        (b"\xffto:ADA@acme.example,\x01", {"ada@acme.example"}),
        (b"zanzibarites and xzanzibarite", set()),
        (b"\x00ada\x00", set()),
        ("\x00ÖFFNUNG\x00".encode(), {"öffnung"}),
        ("\x00großmann 88123\x00".encode(), {"großmann", "88123"}),
        (b"\x00 eight\x00 8812", set()),
        (b"", set()),
    ],
)
def test_a_word_stands_alone_among_other_bytes(content: bytes, there: set[str]) -> None:
    """Short ones stand by chance among enough sealed rows, and prove nothing."""
    assert WORDS.found_in(content) == there
