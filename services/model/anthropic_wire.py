"""A request as the Messages API takes it: the arguments of `messages.create`, as plain data.

Pure functions. What is cached comes first and ends in a cache mark: the tools, the stable part of the prompt;
then, where rounds of tools may follow, the opening turn and the newest results (four marks, the API's limit).
https://platform.claude.com/docs/en/api/messages
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from services.model.port import Answer, Exchange, Request, Tool, ToolResult
from services.model.prompt import REMINDER, only_call, render, render_result, results_of
from services.model.settings import ModelSettings

_MARK = {"cache_control": {"type": "ephemeral"}}
_OPTIONAL = {"tool_choice": r"\btool_choice\b", "output_config": r"\b(output_config|effort)\b"}

Block = dict[str, Any]


def to_wire(request: Request, settings: ModelSettings, *, without: frozenset[str] = frozenset()) -> dict[str, Any]:
    """The arguments of `messages.create`, less the optional ones named in `without`.

    `max_tokens` is the request's limit plus the settings' room for thinking. Without `tool_choice`, what must be
    called is asked for in words alone.
    """
    prompt = render(request)
    wire: dict[str, Any] = {
        "model": request.model or settings.model,
        "max_tokens": request.max_tokens + settings.thinking_tokens,
        "system": [_text(prompt.stable) | _MARK],
        "messages": _messages(request, prompt.opening),
    }
    if request.tools:
        wire["tools"] = _tools(request.tools)
    if request.must_call:
        wire["tool_choice"] = {"type": "tool", "name": request.must_call}
    effort = request.effort or settings.effort
    if effort != "default":
        wire["output_config"] = {"effort": effort}
    return {name: value for name, value in wire.items() if name not in without}


def refused_options(wire: Mapping[str, Any], complaint: str) -> frozenset[str]:
    """The optional arguments of a request that the server's complaint (of a 400) names: ask again without them."""
    return frozenset(name for name, word in _OPTIONAL.items() if name in wire and re.search(word, complaint))


def _tools(tools: tuple[Tool, ...]) -> list[Block]:
    blocks: list[Block] = [
        {"name": tool.name, "description": tool.description, "input_schema": dict(tool.schema)} for tool in tools
    ]
    return [*blocks[:-1], blocks[-1] | _MARK]


def _messages(request: Request, opening: str) -> list[Block]:
    first = _text(opening)
    if request.tools and not only_call(request):
        first |= _MARK
    messages: list[Block] = [{"role": "user", "content": [first]}]
    for exchange in request.history:
        said = _said(exchange.answer)
        messages += [{"role": "assistant", "content": said}] if said else []
        messages.append({"role": "user", "content": _answered(exchange, request.fence)})
    if request.history:
        newest = messages[-1]["content"]
        newest[-1] = newest[-1] | _MARK
    return messages


def _said(answer: Answer) -> list[Block]:
    if answer.raw:
        return [dict(block) for block in answer.raw if not _is_blank(block)]
    text = [_text(answer.text)] if answer.text.strip() else []
    return text + [
        {"type": "tool_use", "id": call.id, "name": call.name, "input": dict(call.input)} for call in answer.calls
    ]


def _answered(exchange: Exchange, fence: str) -> list[Block]:
    return [_result(result, fence) for result in results_of(exchange)] or [_text(REMINDER)]


def _result(result: ToolResult, fence: str) -> Block:
    block = {"type": "tool_result", "tool_use_id": result.call_id, "content": render_result(result, fence)}
    return block | {"is_error": True} if result.error else block


def _is_blank(block: Mapping[str, Any]) -> bool:
    """Whether it says nothing: a model may answer so, and the API takes no such block back."""
    return block.get("type") == "text" and not str(block.get("text", "")).strip()


def _text(text: str) -> Block:
    return {"type": "text", "text": text}
