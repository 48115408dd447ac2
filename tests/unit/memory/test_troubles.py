"""Whether two wordings tell one trouble."""

from __future__ import annotations

import pytest

from services.memory.troubles import same_words


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("invoice 2041 wrong", "wrong invoice 2041", True),
        ("invoice 2041 wrong", "invoice 2042 wrong", False),
        ("invoice wrong", "invoice 2042 wrong", False),
        ("fifteen exports fail", "fifty exports fail", False),
        ("fifteen exports fail", "exports fail for fifteen", True),
    ],
)
def test_another_number_is_another_trouble(one: str, other: str, same: bool) -> None:
    """In digits and in words: "fifteen" begins as "fifty" does, and is no form of it."""
    assert same_words(one, other) == same
