"""The Messages API as data: what is sent where, and what comes back as an answer."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.core.model.anthropic_wire import from_wire, to_wire
from services.core.model.port import Answer, Exchange, Layer, Request, Tool, ToolCall, ToolResult, Usage
from services.core.model.settings import ModelSettings
from tests.support.scripted_rules import refusal_of

SETTINGS = ModelSettings(api_key="sk-1")
TOOLS = (Tool("search", "Look.", {"type": "object"}), Tool("reply", "Answer.", {"type": "object"}))
CALL = ToolCall("c1", "search", {"query": "plan"})
SAID = Answer("Let me see.", (CALL,), "tool_use", "claude")
FOUND = Exchange(SAID, (ToolResult("c1", "Pro"),))


def a_request(**changes: Any) -> Request:
    given_: dict[str, Any] = {"tools": TOOLS, "fence": "f00df00d", **changes}
    layers = (Layer("persona", "Acme.", shared=True), Layer("mail", "Hi", trusted=False))
    return Request("reply", "You are an agent.", layers, "Answer.", **given_)


def marks(wire: dict[str, Any]) -> list[str]:
    """Where the cache marks stand, in the prompt's order."""
    blocks = [("tool", block) for block in wire.get("tools", [])]
    blocks += [("system", block) for block in wire["system"]]
    blocks += [(f"turn{at}", block) for at, turn in enumerate(wire["messages"]) for block in turn["content"]]
    return [place for place, block in blocks if "cache_control" in block]


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, ["tool", "system", "turn0"]),
        ({"tools": ()}, ["system"]),
        ({"must_call": "reply"}, ["tool", "system"]),
        ({"history": (FOUND,)}, ["tool", "system", "turn0", "turn2"]),
        ({"history": (FOUND,) * 6}, ["tool", "system", "turn0", "turn12"]),
    ],
)
def test_cache_marks_end_what_is_asked_again(changes: dict[str, Any], expected: list[str]) -> None:
    """Marks end the tools, the stable prefix, a turn that may go on and its newest round: never more than four."""
    wire = to_wire(a_request(**changes), SETTINGS, forced=False)
    assert marks(wire) == expected
    assert refusal_of(wire) == ""


def test_sampling_is_left_to_the_provider() -> None:
    """The SDK has no temperature, top_p or top_k, so none is ever sent."""
    wire = to_wire(a_request(must_call="reply"), SETTINGS, forced=True)
    assert set(wire) == {"model", "max_tokens", "system", "messages", "tools", "tool_choice"}


def test_answers_of_other_providers_go_into_history() -> None:
    """An answer without a provider's blocks is spelled out from its text and calls."""
    wire = to_wire(a_request(history=(FOUND,)), SETTINGS, forced=False)
    assert wire["messages"][1]["content"] == [
        {"type": "text", "text": "Let me see."},
        {"type": "tool_use", "id": "c1", "name": "search", "input": {"query": "plan"}},
    ]


def test_empty_answer_in_history_is_left_out() -> None:
    """The API takes no empty turn, so an answer that said nothing leaves only the reminder."""
    nothing = Answer("", (), "end_turn", "claude")
    wire = to_wire(a_request(history=(Exchange(nothing, ()),)), SETTINGS, forced=False)
    assert [turn["role"] for turn in wire["messages"]] == ["user", "user"]
    assert refusal_of(wire) == ""


def test_rendering_changes_nothing_it_was_given() -> None:
    """The blocks of the history stay as they are: no cache mark is written into them."""
    raw = ({"type": "tool_use", "id": "c1", "name": "search", "input": {}},)
    history = (Exchange(Answer("", (CALL,), "tool_use", "claude", raw=raw), (ToolResult("c1", "Pro"),)),)
    first = json.dumps(to_wire(a_request(history=history), SETTINGS, forced=False))
    assert json.dumps(to_wire(a_request(history=history), SETTINGS, forced=False)) == first
    assert raw == ({"type": "tool_use", "id": "c1", "name": "search", "input": {}},)


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
