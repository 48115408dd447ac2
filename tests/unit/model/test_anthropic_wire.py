"""What is sent where in a question to the Messages API."""

from __future__ import annotations

import json
from typing import Any

import pytest

from services.model.anthropic_wire import refused_options, to_wire
from services.model.port import Answer, Exchange, Layer, Request, Tool, ToolCall, ToolResult
from services.model.settings import ModelSettings
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
        ({"must_call": "reply", "tools": TOOLS[1:]}, ["tool", "system"]),
        ({"history": (FOUND,)}, ["tool", "system", "turn0", "turn2"]),
        ({"history": (FOUND,) * 6}, ["tool", "system", "turn0", "turn12"]),
    ],
)
def test_cache_marks_end_what_is_asked_again(changes: dict[str, Any], expected: list[str]) -> None:
    """Marks end the tools, the stable prefix, a turn that may go on and its newest round: never more than four."""
    wire = to_wire(a_request(**changes), SETTINGS, without=frozenset({"tool_choice"}))
    assert marks(wire) == expected
    assert refusal_of(wire) == ""


def test_sampling_is_left_to_the_provider() -> None:
    """The SDK has no temperature, top_p or top_k, so none is ever sent."""
    wire = to_wire(a_request(must_call="reply"), SETTINGS)
    assert set(wire) == {"model", "max_tokens", "system", "messages", "tools", "tool_choice", "output_config"}


@pytest.mark.parametrize(
    ("complaint", "refused"),
    [
        ('tool_choice: type "tool" is not supported for this model.', {"tool_choice"}),
        ("This model does not support the effort parameter.", {"output_config"}),
        ("output_config: Extra inputs are not permitted", {"output_config"}),
        ("prompt is too long: 2000001 tokens", set()),
        ("messages: an effortless conversation", set()),
    ],
)
def test_refused_options_are_those_named(complaint: str, refused: set[str]) -> None:
    """Only an option that was sent and that the complaint names is given up; the rest is sent again."""
    wire = to_wire(a_request(must_call="reply"), SETTINGS)
    assert refused_options(wire, complaint) == refused
    again = to_wire(a_request(must_call="reply"), SETTINGS, without=frozenset(refused))
    assert wire.keys() - again.keys() == refused
    assert refused_options(again, complaint) == set()


def test_answers_of_other_providers_go_into_history() -> None:
    """An answer without a provider's blocks is spelled out from its text and calls."""
    wire = to_wire(a_request(history=(FOUND,)), SETTINGS)
    assert wire["messages"][1]["content"] == [
        {"type": "text", "text": "Let me see."},
        {"type": "tool_use", "id": "c1", "name": "search", "input": {"query": "plan"}},
    ]


@pytest.mark.parametrize("text", ["", " \n"])
@pytest.mark.parametrize("has_blocks", [True, False])
def test_empty_answer_in_history_is_left_out(text: str, has_blocks: bool) -> None:
    """The API takes no empty turn and no blank block, so an answer that said nothing leaves only the reminder."""
    nothing = Answer(text, (), "end_turn", "claude", raw=({"type": "text", "text": text},) if has_blocks else ())
    wire = to_wire(a_request(history=(Exchange(nothing, ()),)), SETTINGS)
    assert [turn["role"] for turn in wire["messages"]] == ["user", "user"]
    assert refusal_of(wire) == ""


def test_rendering_changes_nothing_it_was_given() -> None:
    """The blocks of the history stay as they are: no cache mark is written into them."""
    raw = ({"type": "tool_use", "id": "c1", "name": "search", "input": {}},)
    history = (Exchange(Answer("", (CALL,), "tool_use", "claude", raw=raw), (ToolResult("c1", "Pro"),)),)
    first = json.dumps(to_wire(a_request(history=history), SETTINGS))
    assert json.dumps(to_wire(a_request(history=history), SETTINGS)) == first
    assert raw == ({"type": "tool_use", "id": "c1", "name": "search", "input": {}},)
