"""What the scripted model's server can do with one request: answer, refuse, keep silent, break."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Behaviour:
    """What the server does with one request: wait, then answer with blocks, or with a status, or break."""

    content: tuple[dict[str, Any], ...] = ()
    stop: str = "end_turn"
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    delay_s: float = 0.0
    body: str | None = None  # sent as it is instead of a message
    cut_after: int | None = None  # bytes of the body that are sent before the connection is cut


def reply_text(text: str, *, stop: str = "end_turn") -> Behaviour:
    """Say something and call nothing."""
    return Behaviour(content=({"type": "text", "text": text},), stop=stop)


def reply_tool(name: str, tool_input: Any, *, text: str = "", thinking: str = "") -> Behaviour:
    """Call one tool, after a thought and a word if given."""
    return reply_tools((name, tool_input), text=text, thinking=thinking)


def reply_tools(*calls: tuple[str, Any], text: str = "", thinking: str = "") -> Behaviour:
    """Call several tools at once."""
    blocks: list[dict[str, Any]] = []
    if thinking:
        blocks.append({"type": "thinking", "thinking": thinking})
    if text:
        blocks.append({"type": "text", "text": text})
    blocks += [{"type": "tool_use", "name": name, "input": tool_input} for name, tool_input in calls]
    return Behaviour(content=tuple(blocks), stop="tool_use")


def failing(status: int, kind: str = "api_error", message: str = "", **headers: str) -> Behaviour:
    """Answer with an error status; header names are given with underscores."""
    body = json.dumps({"type": "error", "error": {"type": kind, "message": message or kind}})
    return Behaviour(status=status, body=body, headers={name.replace("_", "-"): v for name, v in headers.items()})


def rate_limited(retry_after: float | str = 0.01) -> Behaviour:
    """429, with the seconds to wait."""
    return failing(429, "rate_limit_error", retry_after=str(retry_after))


def overloaded() -> Behaviour:
    """529, the provider's own word for too many questions; asks to come back in a moment."""
    return failing(529, "overloaded_error", "Overloaded", retry_after="0.01")


def hang(seconds: float = 30.0) -> Behaviour:
    """Accept the request and keep silent."""
    return Behaviour(delay_s=seconds, content=({"type": "text", "text": "too late"},))


def cut_connection(after_bytes: int = 40) -> Behaviour:
    """Send the head and some bytes of the body, then cut the connection."""
    return Behaviour(
        content=({"type": "text", "text": "this sentence is never heard to its end"},), cut_after=after_bytes
    )


def malformed_json() -> Behaviour:
    """200, and a body that is no JSON."""
    return Behaviour(body='{"type": "message", "content": [{"type": "te')


def malformed_tool_input(name: str, tool_input: Any = '{"text": "unclosed') -> Behaviour:
    """A tool call whose input is no object."""
    return reply_tool(name, tool_input)


def refusal(text: str = "") -> Behaviour:
    """The model refuses for policy."""
    return Behaviour(content=({"type": "text", "text": text},) if text else (), stop="refusal")


def truncated(text: str) -> Behaviour:
    """Text that ends where the limit of tokens cut it."""
    return reply_text(text, stop="max_tokens")


def truncated_tool(name: str, partial: dict[str, Any] | None = None) -> Behaviour:
    """A tool call that the limit of tokens cut off."""
    return Behaviour(content=({"type": "tool_use", "name": name, "input": partial or {}},), stop="max_tokens")
