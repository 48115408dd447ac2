"""What retention empties: every event that holds words says in which fields, and is still valid without them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from schemas.events import EVENTS

EXAMPLES = Path(__file__).parents[2] / "schemas" / "examples"
WORDY = ("text", "quote", "value", "layers", "facts", "relations")  # fields that hold what somebody wrote
# Kept by design: summaries and sessions are what remains; notes, goals, profiles and documents are people's own.
KEPT = {
    "thread.summarized.v1",
    "thread.goal_added.v1",
    "participant.profile_changed.v1",
    "participant.profile_requested.v1",
    "document.proposed.v1",
    "document.proposal_decided.v1",
}


@pytest.mark.parametrize("name", sorted(EVENTS))
def test_an_event_with_words_says_which(name: str) -> None:
    """A new type with a field of words declares it, or is named above with the reason."""
    event = EVENTS[name]
    held = {field for field in WORDY if field in event.model_fields}
    assert name in KEPT or held <= event.WORDS | event.LEARNED
    assert event.model_fields.keys() >= event.WORDS | event.LEARNED


@pytest.mark.parametrize("name", sorted(name for name, event in EVENTS.items() if event.WORDS | event.LEARNED))
def test_without_its_words_an_event_still_reads(name: str) -> None:
    """The golden example loses its words, keeps everything else, and is the same when it is emptied again."""
    event, data = EVENTS[name], json.loads((EXAMPLES / f"{name}.json").read_text(encoding="utf-8"))["data"]
    whole = event.model_validate(data)
    bare = whole.without_words().without_learned()
    assert event.model_validate_json(bare.model_dump_json()) == bare
    assert bare.without_words().without_learned() == bare
    before, after = whole.model_dump(mode="json"), bare.model_dump(mode="json")
    assert {field for field in before if before[field] != after[field]} <= event.WORDS | event.LEARNED
    assert not any(_texts(after[field]) for field in event.WORDS | event.LEARNED)


def _texts(value: Any) -> list[str]:
    """The texts in a value that are somebody's words: of a layer or an attachment, not its name."""
    if isinstance(value, dict):
        return [text for name, one in value.items() if name in ("text", "items", "quote") for text in _texts(one)]
    if isinstance(value, list):
        return [text for one in value for text in _texts(one)]
    return [value] if isinstance(value, str) and value else []
