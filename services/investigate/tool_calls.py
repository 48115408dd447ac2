"""What the model's calls do to the folder: each is validated, answered in words, and bounded. Pure.

A call that cannot be run is answered with the reason, and changes nothing. Searching is for words and no pattern, so
that it takes as long as the folder is large, whatever is sought.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from pydantic import ValidationError

from schemas.events.investigations import CallResult
from schemas.model_output import TOOL_INPUTS, FinishInput, GrepInput, ListFilesInput, MemoryInput
from services.core.settings import InvestigateSettings
from services.core.storable import storable
from services.investigate.folder import (
    HOT_CONTEXT,
    MOST_WRITTEN,
    SCRATCHPAD,
    PathRefused,
    Tree,
    below,
    checked,
    is_writable,
    lines_of,
    listing,
    size,
)
from services.model.port import ToolCall

MOST_CALLS = 8  # of one answer
MOST_SHOWN = 20_000  # characters that one call shows
MOST_SHOWN_ROUND = 40_000  # the same of one round, as JSON
MOST_WRITTEN_ROUND = 120_000  # bytes that one round writes, as JSON
MOST_WRITTEN_ALL = 150_000  # the same of all files that are the model's
MOST_HITS = 200
LONGEST_LINE = 400  # characters of a line that was found
MOST_WORDS = 10  # alternatives of one search

WRITABLE = f"only {HOT_CONTEXT}, {SCRATCHPAD}, outputs/ and skills/ are yours to write"
CUT = "\n[cut here: view fewer lines]"


class CallRefused(Exception):
    """The call is not run; the words go back to the model."""


@dataclass(slots=True)
class OpenFolder:
    """The folder under the hands of one round. `finish` is set once the model has ended the investigation."""

    tree: dict[str, str]
    settings: InvestigateSettings
    finish: FinishInput | None = None
    written: int = 0
    shown: int = 0
    results: list[CallResult] = field(default_factory=list)


def run_calls(tree: Tree, calls: Sequence[ToolCall], settings: InvestigateSettings) -> OpenFolder:
    """The folder and the answers after the calls of one answer of the model, in their order."""
    worked = OpenFolder(dict(tree), settings)
    for number, call in enumerate(calls):
        worked.results.append(_answered(worked, call, beyond=number >= MOST_CALLS))
    return worked


def _answered(worked: OpenFolder, call: ToolCall, *, beyond: bool) -> CallResult:
    try:
        if beyond:
            raise CallRefused(f"at most {MOST_CALLS} calls in one answer")
        content = _shown(worked, _run(worked, call))
    except (CallRefused, PathRefused) as error:
        return CallResult(call_id=call.id, content=storable(str(error)), error=True)
    except ValidationError as error:
        return CallResult(call_id=call.id, content=_in_words(error), error=True)
    return CallResult(call_id=call.id, content=content)


def _run(worked: OpenFolder, call: ToolCall) -> str:
    if call.malformed:
        raise CallRefused(call.malformed[:300])
    if call.name not in TOOLS:
        raise CallRefused(f"there is no tool {call.name[:40]!r}; there are: {', '.join(TOOLS)}")
    given = TOOL_INPUTS[call.name].model_validate(dict(call.input))
    return TOOLS[call.name](worked, given)


def _shown(worked: OpenFolder, text: str) -> str:
    """What of a text still has room in the round."""
    kept = text if len(text) <= MOST_SHOWN else text[:MOST_SHOWN] + CUT
    if worked.shown + size(kept) > MOST_SHOWN_ROUND:
        raise CallRefused("enough was shown for one answer: call it again in the next one")
    worked.shown += size(kept)
    return kept


def _list(worked: OpenFolder, given: ListFilesInput) -> str:
    return listing(worked.tree, given.folder)


def _grep(worked: OpenFolder, given: GrepInput) -> str:
    words = [one.strip().casefold() for one in given.words.split("|") if one.strip()]
    if not words or len(words) > MOST_WORDS:
        raise CallRefused(f"give one to {MOST_WORDS} alternatives")
    hits = list(_hits(worked.tree, given.folder, words))
    more = [f"[{len(hits) - MOST_HITS} more lines: say more]"] if len(hits) > MOST_HITS else []
    return "\n".join([*hits[:MOST_HITS], *more]) or "no line holds that"


def _hits(tree: Tree, folder: str, words: Sequence[str]) -> Iterator[str]:
    for path in sorted(tree):
        for number, line in enumerate(lines_of(tree[path]), 1) if below(path, folder) else ():
            if any(word in line.casefold() for word in words):
                yield f"{path}:{number}: {line.strip()[:LONGEST_LINE]}"


def _memory(worked: OpenFolder, given: MemoryInput) -> str:
    path = checked(given.path)
    if given.command == "view":
        return _viewed(_text(worked, path), given.view_range)
    if not is_writable(path):
        raise CallRefused(f"{path} is read-only: {WRITABLE}")
    if given.command == "delete":
        _text(worked, path)
        del worked.tree[path]
        return f"{path} is deleted"
    _write(worked, path, _EDITS[given.command](worked, path, given))
    return f"{path} has {len(lines_of(worked.tree[path]))} lines now"


def _viewed(text: str, span: Sequence[int]) -> str:
    lines = lines_of(text)
    first, last = (span[0], span[-1]) if span else (1, len(lines))
    if span and not 1 <= first <= last:
        raise CallRefused("view_range is the first and the last line, from 1")
    return (
        "\n".join(f"{number}\t{line}" for number, line in enumerate(lines, 1) if first <= number <= last) or "(empty)"
    )


def _created(worked: OpenFolder, path: str, given: MemoryInput) -> str:
    return given.file_text


def _replaced(worked: OpenFolder, path: str, given: MemoryInput) -> str:
    text = _text(worked, path)
    if not given.old_str or (places := text.count(given.old_str)) != 1:
        raise CallRefused(f"old_str stands {places if given.old_str else 0} times in {path}; it must stand there once")
    return text.replace(given.old_str, given.new_str)


def _inserted(worked: OpenFolder, path: str, given: MemoryInput) -> str:
    lines = lines_of(_text(worked, path))
    if given.insert_line > len(lines):
        raise CallRefused(f"{path} has {len(lines)} lines")
    lines[given.insert_line : given.insert_line] = lines_of(given.insert_text)
    return "\n".join(lines) + "\n" if lines else ""


def _write(worked: OpenFolder, path: str, text: str) -> None:
    """Put a text into the folder, where it has room."""
    text, limit = storable(text), worked.settings.file_bytes
    if size(text) > limit:
        raise CallRefused(f"{path} would have {size(text):,} bytes; a file has at most {limit:,}")
    if worked.written + size(text) > MOST_WRITTEN_ROUND:
        raise CallRefused("enough was written for one answer: go on in the next one")
    others = sum(size(kept) for one, kept in worked.tree.items() if is_writable(one) and one != path)
    if others + size(text) > MOST_WRITTEN_ALL:
        raise CallRefused(f"your files would have more than {MOST_WRITTEN_ALL:,} bytes: delete or shorten some")
    if path not in worked.tree and sum(map(is_writable, worked.tree)) >= MOST_WRITTEN:
        raise CallRefused(f"at most {MOST_WRITTEN} files are yours")
    worked.written += size(text)
    worked.tree[path] = text


def _text(worked: OpenFolder, path: str) -> str:
    if path not in worked.tree:
        raise CallRefused(f"there is no file {path}")
    return worked.tree[path]


def _finish(worked: OpenFolder, given: FinishInput) -> str:
    worked.finish = worked.finish or given
    return "it is over"


def _in_words(error: ValidationError) -> str:
    first = error.errors(include_url=False, include_input=False)[0]
    where = ".".join(map(str, first["loc"]))
    return storable(f"{where}: {first['msg']}"[:500])


_EDITS: Mapping[str, Callable[[OpenFolder, str, MemoryInput], str]] = MappingProxyType(
    {"create": _created, "str_replace": _replaced, "insert": _inserted}
)
TOOLS: Mapping[str, Callable[[OpenFolder, Any], str]] = MappingProxyType(
    {"list_files": _list, "grep": _grep, "memory": _memory, "finish": _finish}
)
