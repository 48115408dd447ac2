"""What comes back from the Messages API, as an answer."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.model.anthropic_answer import from_wire
from services.model.port import Usage


@pytest.mark.parametrize(
    ("stop", "calls", "expected"),
    [
        ("end_turn", 0, "end_turn"),
        ("tool_use", 1, "tool_use"),
        ("max_tokens", 0, "max_tokens"),
        ("model_context_window_exceeded", 0, "max_tokens"),
        ("refusal", 0, "refusal"),
        ("stop_sequence", 0, "end_turn"),
        (None, 0, "end_turn"),
        ("a word of tomorrow", 1, "tool_use"),
    ],
)
def test_stop_is_one_of_four_words(stop: str | None, calls: int, expected: str) -> None:
    """Whatever a server calls it, callers see end_turn, tool_use, max_tokens or refusal."""
    content = [{"type": "tool_use", "id": "1", "name": "reply", "input": {}}] * calls
    assert from_wire(json.dumps({"content": content, "stop_reason": stop})).stop == expected


def test_only_the_last_block_is_cut_off() -> None:
    """At the limit of tokens the calls before the last block are whole."""
    content = [{"type": "tool_use", "id": str(n), "name": "reply", "input": {"text": "Hi"}} for n in range(2)]
    answer = from_wire(json.dumps({"content": content, "stop_reason": "max_tokens"}))
    assert [bool(call.malformed) for call in answer.calls] == [False, True]


def test_thoughts_are_kept_but_not_said() -> None:
    """Thinking blocks go back to the provider unchanged, and never into the text of a reply."""
    content = [{"type": "thinking", "thinking": "They seem cross.", "signature": "s"}, {"type": "text", "text": "Hi"}]
    answer = from_wire(json.dumps({"content": content, "stop_reason": "end_turn"}))
    assert answer.text == "Hi"
    assert list(answer.raw) == content


@pytest.mark.parametrize(
    ("counts", "expected"),
    [
        ({"input_tokens": 1, "output_tokens": 2, "cache_read_input_tokens": 3, "cache_creation_input_tokens": 4},
         Usage(1, 2, 3, 4)),
        ({"input_tokens": 1, "output_tokens": 2, "cache_read_input_tokens": None}, Usage(1, 2)),
        ({"input_tokens": "many", "output_tokens": -2}, Usage()),
        (None, Usage()),
    ],
)  # fmt: skip
def test_usage_is_what_the_provider_counted(counts: Any, expected: Usage) -> None:
    """Counts are taken as given; what is missing or no count is 0."""
    assert from_wire(json.dumps({"content": [], "usage": counts})).usage == expected


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["type", "input", "x"]), inner),
    max_leaves=8,
)
BLOCK = st.fixed_dictionaries({"type": st.sampled_from(["text", "tool_use", "thinking"])} | {"input": JSON})


@given(st.lists(BLOCK, max_size=3), JSON, JSON)
def test_any_message_is_an_answer(content: list[Any], stop: Any, usage: Any) -> None:
    """Any list of content blocks makes an answer whose calls hold objects, and can be sent back."""
    answer = from_wire(json.dumps({"content": content, "stop_reason": stop, "usage": usage}))
    assert all(isinstance(call.input, dict) for call in answer.calls)
    assert all(isinstance(block["input"], dict) for block in answer.raw if block["type"] == "tool_use")
