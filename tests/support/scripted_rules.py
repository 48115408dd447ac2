"""What the scripted model's server holds its clients to: the API's rules, and an honest account of its cache."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from typing import Any

from services.model.usage import estimate_tokens

MARKS = 4
LOOK_BACK = 20  # blocks before a mark that are searched for an earlier entry
UNFORCEABLE = ("claude-sonnet-5-5", "claude-opus-5-5")
REMOVED = ("temperature", "top_p", "top_k")

Block = dict[str, Any]


def refusal_of(body: dict[str, Any]) -> str:
    """Why the real API would answer 400, or ""; the rules that clients break most."""
    for name in REMOVED:
        if name in body:
            return f"{name}: not supported for this model"
    choice = body.get("tool_choice", {}).get("type")
    if choice in ("any", "tool") and body["model"].startswith(UNFORCEABLE):
        return 'tool_choice: type "tool" and "any" are not supported for this model.'
    blocks = [block for block, _ in _blocks(body)]
    if sum("cache_control" in block for block in blocks) > MARKS:
        return f"A maximum of {MARKS} blocks with cache_control may be provided."
    if any(block.get("type") == "text" and not block["text"].strip() for block in blocks):
        return "text content blocks must contain non-whitespace text"
    return _turns_refused(body["messages"]) or _thoughts_refused(body)


def signature_after(body: dict[str, Any], turns: int) -> str:
    """The signature of a thought that follows the first `turns` turns: it is bound to all that led to it."""
    prefix = {**body, "messages": body["messages"][:turns]}
    words = [(place, _bare(block)) for block, place in _blocks(prefix)]
    return hashlib.sha256(json.dumps([body["model"], words]).encode()).hexdigest()


def _thoughts_refused(body: dict[str, Any]) -> str:
    for turn, message in enumerate(body["messages"]):
        for block in _listed(message["content"]):
            if block["type"] == "thinking" and block["signature"] != signature_after(body, turn):
                return "thinking: this block does not belong to this model and conversation"
    return ""


def _turns_refused(messages: list[dict[str, Any]]) -> str:
    if not messages or messages[0]["role"] != "user" or messages[-1]["role"] != "user":
        return "messages: the conversation must begin and end with the user"
    open_calls: set[str] = set()
    for message in messages:
        blocks = _listed(message["content"])
        if not blocks:
            return "messages: all messages must have non-empty content"
        answered = {block["tool_use_id"] for block in blocks if block["type"] == "tool_result"}
        if answered != open_calls:
            return f"tool_use ids were found without tool_result blocks immediately after: {answered ^ open_calls}"
        calls = [block for block in blocks if block["type"] == "tool_use"]
        if not all(isinstance(call["input"], dict) for call in calls):
            return "tool_use.input: Input should be a valid dictionary"
        open_calls = {call["id"] for call in calls}
    return ""


class PromptCache:
    """What earlier requests wrote at their cache marks, by the hash of the prefix that ends there."""

    def __init__(self, minimum: int) -> None:
        self._minimum = minimum
        self._written: set[str] = set()

    def account(self, body: dict[str, Any], answer: str) -> dict[str, int]:
        """The usage of one request, whose marks are then written. Prefixes under the minimum are not cached."""
        ends = list(_prefixes(body))
        marked = [index for index, (_, _, mark) in enumerate(ends) if mark]
        near = {index - back for index in marked for back in range(LOOK_BACK) if index >= back}
        read = max((ends[index][1] for index in near if ends[index][0] in self._written), default=0)
        kept = [ends[index] for index in marked if ends[index][1] >= self._minimum]
        self._written.update(digest for digest, _, _ in kept)
        cached = max([read, *(tokens for _, tokens, _ in kept)])
        return {
            "input_tokens": ends[-1][1] - cached,
            "output_tokens": estimate_tokens(answer),
            "cache_read_input_tokens": read,
            "cache_creation_input_tokens": cached - read,
        }


def _prefixes(body: dict[str, Any]) -> Iterator[tuple[str, int, bool]]:
    """For each block in the order of the prompt: the hash and the tokens up to its end, and if it is marked."""
    digest, tokens = hashlib.sha256(body["model"].encode()), 0
    for block, place in _blocks(body):
        bare = _bare(block)
        digest.update(f"{place}{bare}".encode())
        tokens += estimate_tokens(bare)
        yield digest.hexdigest(), tokens, "cache_control" in block


def _bare(block: Block) -> str:
    return json.dumps({key: value for key, value in block.items() if key != "cache_control"}, sort_keys=True)


def _blocks(body: dict[str, Any]) -> Iterator[tuple[Block, str]]:
    yield from ((tool, "tool") for tool in body.get("tools", []))
    yield from ((block, "system") for block in _listed(body.get("system", [])))
    for message in body["messages"]:
        yield from ((block, message["role"]) for block in _listed(message["content"]))


def _listed(content: Any) -> list[Block]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else list(content)
