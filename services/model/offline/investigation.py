"""Investigating: looks for the question's words in the folder, and ends with the lines that have them."""

from __future__ import annotations

from typing import Any

from schemas.model_output import FinishInput, GrepInput, ListFilesInput, MemoryInput
from services.model.offline.lexicon import STOP
from services.model.offline.sentences import one_line, quotable, words
from services.model.offline.view import View

SAYS = "No language model looked at this case: these are the lines of the folder that have words of the question."
NONE = "No line of the folder has a word of the question."
PAD = "memory/scratchpad.md"
_MOST_WORDS, _MOST_LINES, _SHORTEST = 10, 12, 4

Act = tuple[str, dict[str, Any]]


def investigate(view: View) -> list[Act]:
    """The calls of the next round: a look, then a note."""
    return _looks(view) if not view.request.history else _ends(view)


def _looks(view: View) -> list[Act]:
    sought = list(dict.fromkeys(one.lower() for one in words(view.text("question")) if _means(one)))
    listing = ListFilesInput().model_dump(mode="json")
    if not sought:
        return [("list_files", listing)]
    some = "|".join(sought[:_MOST_WORDS])[:300]
    return [("list_files", listing), ("grep", GrepInput(words=some, folder="threads").model_dump(mode="json"))]


def _means(word: str) -> bool:
    return len(word) >= _SHORTEST and word.lower() not in STOP


def _ends(view: View) -> list[Act]:
    lines = _found(view)
    note = "\n".join([SAYS, *(f"- {quotable(one)}" for one in lines[:_MOST_LINES])]) if lines else NONE
    kept = next((str(one["text"]) for one in view.items("folder") if one.get("path") == PAD), "")
    asked = f"{kept}- asked: {one_line(view.text('question'))[:300]}; lines found: {len(lines)}\n"
    pad = MemoryInput(command="create", path=PAD, file_text=asked[-8_000:])
    return [("memory", pad.model_dump(mode="json")), ("finish", FinishInput(note=note).model_dump(mode="json"))]


def _found(view: View) -> list[str]:
    """The lines that were found in earlier rounds, as `path:line: text`."""
    calls = {call.id: call.name for one in view.request.history for call in one.answer.calls}
    results = [result for one in view.request.history for result in one.results]
    texts = [one.content for one in results if not one.error and calls.get(one.call_id) == "grep"]
    return [line for text in texts for line in text.split("\n") if line.startswith("threads/")]
