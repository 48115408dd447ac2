"""What one mail says, of somebody of whom nothing was known."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.stories.driving import believed_alone
from tests.stories.story import Story


def told(name: str) -> list[tuple[str, str, str]]:
    """Key, value and mail of each line of a file."""
    lines = (Path(__file__).parent / "alone" / f"{name}.txt").read_text(encoding="utf-8").splitlines()
    parts = ([part.strip() for part in line.split("|")] for line in lines if line and not line.startswith("#"))
    return [(key, value, mail) for key, value, mail in parts]


def is_believed(key: str, value: str, mail: str) -> bool:
    """Whether the value is believed without a doubt, proposed with the whole mail as its quote."""
    story = Story("alone", "keeps", key, key, value, mail, value, mail, mail)
    return believed_alone(story, [story.opening]) == [value]


@pytest.mark.parametrize(("key", "value", "mail"), told("believed"))
def test_a_plain_first_statement_was_doubted(key: str, value: str, mail: str) -> None:
    """With the verbs of everyday things, of one's child's class, or of a person whom the key names."""
    assert is_believed(key, value, mail)


@pytest.mark.parametrize(("key", "value", "mail"), told("not_believed"))
def test_what_was_seen_thought_of_or_is_a_relatives_is_not_believed(key: str, value: str, mail: str) -> None:
    """Nor what only somebody says, or what hangs on a condition, in any of the languages."""
    assert not is_believed(key, value, mail)
