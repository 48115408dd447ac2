"""A response of the Messages API as an answer.

Pure functions, and tolerant of other servers: what cannot be a message is a `ValueError`, anything else is read as
well as it can be. An answer holds only what Postgres can store and what the API takes back in a later round.
https://platform.claude.com/docs/en/api/messages
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NoReturn

from services.core.storable import storable
from services.model.port import Answer, ToolCall, Usage

_STOPS = {
    "max_tokens": "max_tokens",
    "model_context_window_exceeded": "max_tokens",
    "refusal": "refusal",
    "tool_use": "tool_use",
}

Block = dict[str, Any]


def from_wire(body: str) -> Answer:
    """The answer in a response body. Raises `ValueError` or `RecursionError` if that is no message.

    A tool call whose input is cut off or no JSON object comes back marked `malformed`, with an empty input.
    """
    message = _storable(json.loads(body, parse_constant=_refuse_constant))
    blocks = message.get("content") if isinstance(message, dict) else None
    if not isinstance(blocks, list) or not all(isinstance(block, dict) for block in blocks):
        raise ValueError("the response has no list of content blocks")
    stop = str(message.get("stop_reason") or "")
    calls = tuple(
        _call(block, cut_off=_STOPS.get(stop) == "max_tokens" and index == len(blocks) - 1)
        for index, block in enumerate(blocks)
        if block.get("type") == "tool_use"
    )
    return Answer(
        text="\n\n".join(str(block.get("text", "")) for block in blocks if block.get("type") == "text").strip(),
        calls=calls,
        stop=_STOPS.get(stop, "tool_use" if calls else "end_turn"),
        model=str(message.get("model") or ""),
        usage=_usage(message.get("usage")),
        raw=tuple(_sendable(block) for block in blocks),
    )


def _call(block: Block, *, cut_off: bool) -> ToolCall:
    given, malformed = _input(block.get("input"))
    if cut_off:
        given, malformed = {}, "the input was cut off at the limit of tokens"
    return ToolCall(str(block.get("id", "")), str(block.get("name", "")), given, malformed)


def _input(value: object) -> tuple[dict[str, Any], str]:
    """A tool's input and what is wrong with it; some servers send the object as a string of JSON."""
    if isinstance(value, str):
        try:
            value = json.loads(value, parse_constant=_refuse_constant)
        except (ValueError, RecursionError):
            return {}, "the input is not valid JSON"
    if not isinstance(value, dict):
        return {}, "the input is not an object"
    return value, ""


def _sendable(block: Block) -> Block:
    """The block unchanged, save an input that the API would refuse when it is sent back."""
    if block.get("type") != "tool_use" or isinstance(block.get("input"), dict):
        return block
    return block | {"input": _input(block.get("input"))[0]}


def _usage(counts: object) -> Usage:
    if not isinstance(counts, Mapping):
        return Usage()

    def tokens(name: str) -> int:
        value = counts.get(name)
        return value if isinstance(value, int) and value > 0 else 0

    return Usage(
        input=tokens("input_tokens"),
        output=tokens("output_tokens"),
        cache_read=tokens("cache_read_input_tokens"),
        cache_write=tokens("cache_creation_input_tokens"),
    )


def _storable(value: Any) -> Any:
    """The value without NUL and lone surrogates, which neither Postgres nor UTF-8 can hold."""
    if isinstance(value, str):
        return storable(value)
    if isinstance(value, list):
        return [_storable(item) for item in value]
    if isinstance(value, dict):
        return {_storable(key): _storable(item) for key, item in value.items()}
    return value


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")
