"""The Messages API as data: a request to the arguments of `messages.create`, a response body to an answer.

Pure functions. What is cached comes first and ends in a cache mark: the tools, the stable part of the prompt;
then, where rounds of tools may follow, the opening turn and the newest results (four marks, the API's limit).
https://platform.claude.com/docs/en/api/messages
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, NoReturn

from services.core.model.port import Answer, Exchange, Request, Tool, ToolCall, ToolResult, Usage
from services.core.model.prompt import must_call_rule, render, render_result
from services.core.model.settings import ModelSettings

_MARK = {"cache_control": {"type": "ephemeral"}}
_NOT_RUN = "This call was not run."
_STOPS = {
    "max_tokens": "max_tokens",
    "model_context_window_exceeded": "max_tokens",
    "refusal": "refusal",
    "tool_use": "tool_use",
}
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")

Block = dict[str, Any]


def to_wire(request: Request, settings: ModelSettings, *, forced: bool) -> dict[str, Any]:
    """The arguments of `messages.create`. `forced` sends `must_call` as `tool_choice`, not in words alone.

    `max_tokens` is the request's limit plus the settings' room for thinking.
    """
    prompt = render(request)
    wire: dict[str, Any] = {
        "model": settings.model,
        "max_tokens": request.max_tokens + settings.thinking_tokens,
        "system": [_text(prompt.stable) | _MARK],
        "messages": _messages(request, prompt.opening),
    }
    if request.tools:
        wire["tools"] = _tools(request.tools)
    if request.must_call and forced:
        wire["tool_choice"] = {"type": "tool", "name": request.must_call}
    if settings.effort:
        wire["output_config"] = {"effort": settings.effort}
    return wire


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


def _tools(tools: tuple[Tool, ...]) -> list[Block]:
    blocks: list[Block] = [
        {"name": tool.name, "description": tool.description, "input_schema": dict(tool.schema)} for tool in tools
    ]
    return [*blocks[:-1], blocks[-1] | _MARK]


def _messages(request: Request, opening: str) -> list[Block]:
    first = _text(opening)
    if request.tools and not request.must_call:
        first |= _MARK
    messages: list[Block] = [{"role": "user", "content": [first]}]
    for exchange in request.history:
        said = _said(exchange.answer)
        messages += [{"role": "assistant", "content": said}] if said else []
        messages.append({"role": "user", "content": _answered(exchange, request)})
    if request.history:
        newest = messages[-1]["content"]
        newest[-1] = newest[-1] | _MARK
    return messages


def _said(answer: Answer) -> list[Block]:
    if answer.raw:
        return [dict(block) for block in answer.raw]
    text = [_text(answer.text)] if answer.text else []
    return text + [
        {"type": "tool_use", "id": call.id, "name": call.name, "input": dict(call.input)} for call in answer.calls
    ]


def _answered(exchange: Exchange, request: Request) -> list[Block]:
    given = {result.call_id: result for result in exchange.results}
    missing = (ToolResult(call.id, _NOT_RUN, error=True) for call in exchange.answer.calls if call.id not in given)
    blocks = [_result(result, request.fence) for result in (*exchange.results, *missing)]
    return blocks or [_text(must_call_rule(request.must_call) or "Go on.")]


def _result(result: ToolResult, fence: str) -> Block:
    block = {"type": "tool_result", "tool_use_id": result.call_id, "content": render_result(result, fence)}
    return block | {"is_error": True} if result.error else block


def _text(text: str) -> Block:
    return {"type": "text", "text": text}


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
        return _UNSTORABLE.sub("\ufffd", value)
    if isinstance(value, list):
        return [_storable(item) for item in value]
    if isinstance(value, dict):
        return {_storable(key): _storable(item) for key, item in value.items()}
    return value


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")
