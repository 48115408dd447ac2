"""Look-ups in our documents: asking the tool once, and reading what it brought."""

from __future__ import annotations

import re
from typing import Any

from services.model.offline.sentences import one_line
from services.model.offline.view import Passage, View

TOOL = "search_knowledge"

_PASSAGE = re.compile(r"^\[([^\]\n]{1,500})\] ([^\n]{0,500}?)(?: / ([^\n]{0,500}))?\n", re.MULTILINE)
_QUERY_LIMIT = 300


def look_up(view: View, questions: list[str]) -> dict[str, Any] | None:
    """The tool's input for what is still open; None if there is no such tool, or if it was asked already."""
    asked = any(call.name == TOOL for round_ in view.request.history for call in round_.answer.calls)
    if asked or not questions or not view.offers(TOOL):
        return None
    return {"query": one_line(" ".join(questions))[:_QUERY_LIMIT]}


def looked_up(view: View) -> tuple[Passage, ...]:
    """Passages that earlier rounds of this conversation brought in."""
    calls = {call.id: call.name for round_ in view.request.history for call in round_.answer.calls}
    results = [result for round_ in view.request.history for result in round_.results if not result.error]
    return tuple(one for result in results if calls.get(result.call_id) == TOOL for one in _read(result.content))


def _read(content: str) -> tuple[Passage, ...]:
    """Passages as the tool writes them: a line `[id] title / heading`, then the text."""
    parts = [part.strip() if part else "" for part in _PASSAGE.split(content)[1:]]
    return tuple(Passage(*parts[i : i + 4]) for i in range(0, len(parts), 4))
