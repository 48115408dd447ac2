"""Recorded answers, and the JSON in which a journal keeps them."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from services.model.port import Answer, Exchange, Request, ToolCall, Usage
from services.model.recorded import answer_from_json, answer_to_json, step_of

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
OBJECT = st.dictionaries(
    TEXT, st.none() | st.booleans() | st.integers() | TEXT | st.lists(TEXT, max_size=2), max_size=3
)
CALLS = st.lists(st.builds(ToolCall, TEXT, TEXT, OBJECT, TEXT), max_size=2).map(tuple)
ANSWERS = st.builds(
    Answer, TEXT, CALLS, TEXT, TEXT, st.builds(Usage, *[st.integers(0)] * 4), st.lists(OBJECT, max_size=2).map(tuple)
)


@given(ANSWERS)
def test_answers_survive_json(answer: Answer) -> None:
    """An answer read back from JSON text equals the one that was written."""
    assert answer_from_json(json.loads(json.dumps(answer_to_json(answer)))) == answer


def test_older_recordings_still_read() -> None:
    """A recording from before a field existed reads with that field's default."""
    old: dict[str, Any] = {
        "text": "Hi",
        "calls": [{"id": "1", "name": "reply", "input": {}}],
        "stop": "x",
        "model": "m",
    }
    assert answer_from_json(old) == Answer("Hi", (ToolCall("1", "reply", {}),), "x", "m")


def test_step_names_purpose_and_round() -> None:
    """A step tells purposes and rounds of one event apart, whatever the mail says."""
    before = Exchange(Answer("", (), "x", "m"), ())
    assert step_of(Request("reply", "s", (), "t")) == "model.reply.0"
    assert step_of(Request("reply", "s", (), "t", history=(before,))) == "model.reply.1"
    assert step_of(Request("reflect", "s", (), "t")) == "model.reflect.0"
