"""The scripted server's own account of its prompt cache, by which benchmarks believe it."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.scripted_rules import PromptCache, refusal_of

MARK = {"cache_control": {"type": "ephemeral"}}


def a_body(system: str, user: str, *, mark: bool = True, **changes: Any) -> dict[str, Any]:
    block = {"type": "text", "text": system} | (MARK if mark else {})
    messages = [{"role": "user", "content": [{"type": "text", "text": user}]}]
    return {"model": "claude-sonnet-4-6", "system": [block], "messages": messages, **changes}


def read_and_written(cache: PromptCache, body: dict[str, Any]) -> tuple[bool, bool]:
    usage = cache.account(body, "{}")
    return usage["cache_read_input_tokens"] > 0, usage["cache_creation_input_tokens"] > 0


def test_marked_prefix_is_written_once_and_read_after() -> None:
    """The first request writes what stands before its mark, a second with the same prefix reads it."""
    cache = PromptCache(0)
    assert read_and_written(cache, a_body("rules", "one")) == (False, True)
    assert read_and_written(cache, a_body("rules", "two")) == (True, False)


def test_nothing_is_read_without_an_equal_marked_prefix() -> None:
    """One other byte, another model, or no mark: nothing is read."""
    cache = PromptCache(0)
    cache.account(a_body("rules", "one"), "{}")
    assert read_and_written(cache, a_body("rules!", "one")) == (False, True)
    assert read_and_written(cache, a_body("rules", "one", model="claude-haiku-4-5")) == (False, True)
    assert read_and_written(cache, a_body("rules", "one", mark=False)) == (False, False)


def test_short_prefixes_are_not_cached() -> None:
    """Under the provider's minimum a mark has no effect."""
    cache = PromptCache(512)
    cache.account(a_body("rules", "one"), "{}")
    assert read_and_written(cache, a_body("rules", "one")) == (False, False)


def test_kinds_of_tokens_add_up() -> None:
    """Read, written and other tokens of a prompt are the same in sum, whatever is cached."""
    cache = PromptCache(0)
    totals = set()
    for _ in range(2):
        usage = cache.account(a_body("rules " * 50, "one"), "{}")
        totals.add(sum(tokens for kind, tokens in usage.items() if kind != "output_tokens"))
    assert len(totals) == 1


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"temperature": 0.0}, "temperature"),
        ({"model": "claude-sonnet-5-5", "tool_choice": {"type": "any"}}, "tool_choice"),
        ({"system": [{"type": "text", "text": " "}]}, "non-whitespace"),
        ({"tools": [{"name": str(n), **MARK} for n in range(4)]}, "cache_control"),
        ({"messages": [{"role": "user", "content": []}]}, "non-empty"),
        ({"messages": [{"role": "assistant", "content": "Hi"}]}, "begin and end"),
    ],
)
def test_strict_as_the_real_one(changes: dict[str, Any], complaint: str) -> None:
    """What the real API answers with 400, the scripted one does too."""
    assert complaint in refusal_of({**a_body("rules", "one"), **changes})
    assert refusal_of(a_body("rules", "one")) == ""
