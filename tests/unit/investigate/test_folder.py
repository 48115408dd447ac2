"""No path leads out of an investigation's folder, and no call takes longer or more than its bound."""

from __future__ import annotations

import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.core.settings import InvestigateSettings
from services.investigate.folder import (
    LONGEST_PATH,
    MOST_WRITTEN,
    PathRefused,
    changes,
    checked,
    is_writable,
    size,
    tree_of,
)
from services.investigate.tool_calls import (
    MOST_CALLS,
    MOST_HITS,
    MOST_SHOWN_ROUND,
    MOST_WRITTEN_ROUND,
    run_calls,
)
from services.model.port import ToolCall

SETTINGS = InvestigateSettings()
TREE = {
    "AGENTS.md": "# The folder\n",
    "memory/hot_context.md": "Ada runs the export.\n",
    "memory/scratchpad.md": "",
    "profile/user.yaml": "person: {}\n",
    "threads/2026-01-05-1a2b3c4d.md": "# Export\nThe export fails.\nIt fails at night.\n",
}
HOSTILE = [
    "../etc/passwd",
    "memory/../../etc/passwd",
    "memory/..",
    "..",
    ".",
    "./memory/scratchpad.md",
    "/etc/passwd",
    "//etc/passwd",
    "C:\\Windows\\system.ini",
    "memory\\..\\x",
    "memory/scratchpad.md\0.txt",
    "\0",
    "",
    "memory//scratchpad.md",
    "memory/",
    "outputs/a/b/c/d.md",
    "outputs/.hidden",
    "outputs/~root",
    "outputs/a b.md",
    "outputs/%2e%2e/x",
    "outputs/．．/x",
    "outputs/x\ny",
    "outputs/\u202ex.md",
    "outputs/" + "x" * LONGEST_PATH,
    "file:///etc/passwd",
    "outputs/$(id)",
]


def done(*calls: tuple[str, dict[str, Any]], tree: dict[str, str] | None = None) -> Any:
    """What becomes of the folder by some calls."""
    asked = [ToolCall(str(number), name, given) for number, (name, given) in enumerate(calls)]
    return run_calls(TREE if tree is None else tree, asked, SETTINGS)


def answered(*calls: tuple[str, dict[str, Any]]) -> list[tuple[bool, str]]:
    """How calls are answered: whether it is an error, and the words."""
    return [(one.error, one.content) for one in done(*calls).results]


@pytest.mark.parametrize("path", HOSTILE)
@pytest.mark.parametrize("command", ["view", "create", "str_replace", "insert", "delete"])
def test_a_path_that_leads_elsewhere_is_refused_and_changes_nothing(path: str, command: str) -> None:
    """Parents, roots, drives, NUL, links' names, encodings and lengths: none names a file, and none is written."""
    worked = done(("memory", {"command": command, "path": path, "file_text": "x", "old_str": "a", "insert_text": "x"}))
    assert worked.results[0].error
    assert worked.tree == TREE


@pytest.mark.parametrize("folder", [one for one in HOSTILE if one not in ("", "memory/")])
def test_a_folder_that_is_none_is_refused(folder: str) -> None:
    """Listing and searching look below plain names alone."""
    assert [
        error for error, _ in answered(("list_files", {"folder": folder}), ("grep", {"words": "a", "folder": folder}))
    ] == [
        True,
        True,
    ]


@given(st.text(max_size=140))
def test_whatever_is_taken_for_a_path_is_made_of_plain_names(path: str) -> None:
    """A path that passes has no root, no parent, no dot file, and no character that a shell or a disk minds."""
    try:
        parts = checked(path).split("/")
    except PathRefused:
        return
    assert len(parts) <= 4
    assert all(part and part[0] not in ".-" and part.isascii() and not set(part) & set("\\\0~$ %:") for part in parts)


@pytest.mark.parametrize(
    "path", ["AGENTS.md", "profile/user.yaml", "threads/2026-01-05-1a2b3c4d.md", "skills", "outputs", "memory/other.md"]
)
@pytest.mark.parametrize("command", ["create", "str_replace", "insert", "delete"])
def test_what_is_not_the_models_is_read_only(path: str, command: str) -> None:
    """The brief, the scratchpad, outputs/ and skills/ are its own; all else is refused in words."""
    [(error, said)] = answered(("memory", {"command": command, "path": path, "file_text": "x", "old_str": "#"}))
    assert error
    assert "read-only" in said


def test_files_are_listed_searched_viewed_and_edited() -> None:
    """The plain use of each tool."""
    worked = done(
        ("list_files", {"folder": "threads"}),
        ("grep", {"words": "AT NIGHT|nothing", "folder": ""}),
        ("memory", {"command": "view", "path": "threads/2026-01-05-1a2b3c4d.md", "view_range": [2, 2]}),
        ("memory", {"command": "create", "path": "memory/scratchpad.md", "file_text": "one\nthree\n"}),
        ("memory", {"command": "insert", "path": "memory/scratchpad.md", "insert_line": 1, "insert_text": "two"}),
        ("memory", {"command": "str_replace", "path": "memory/scratchpad.md", "old_str": "three", "new_str": "3"}),
        ("memory", {"command": "delete", "path": "memory/hot_context.md"}),
    )
    assert not any(one.error for one in worked.results)
    assert worked.results[0].content == "threads/2026-01-05-1a2b3c4d.md (3 lines)"
    assert worked.results[1].content == "threads/2026-01-05-1a2b3c4d.md:3: It fails at night."
    assert worked.results[2].content == "2\tThe export fails."
    assert worked.tree["memory/scratchpad.md"] == "one\ntwo\n3\n"
    assert "memory/hot_context.md" not in worked.tree
    assert tree_of([*changes({}, TREE), *changes(TREE, worked.tree)]) == worked.tree


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (("memory", {"command": "str_replace", "path": "memory/hot_context.md", "old_str": "e", "new_str": ""}), "must stand there once"),
        (("memory", {"command": "str_replace", "path": "memory/hot_context.md", "old_str": "", "new_str": "x"}), "must stand there once"),
        (("memory", {"command": "insert", "path": "memory/scratchpad.md", "insert_line": 9, "insert_text": "x"}), "has 0 lines"),
        (("memory", {"command": "view", "path": "memory/none.md"}), "there is no file"),
        (("memory", {"command": "view", "path": "AGENTS.md", "view_range": [3, 1]}), "first and the last line"),
        (("memory", {"command": "chmod", "path": "AGENTS.md"}), "command"),
        (("grep", {"words": " | "}), "alternatives"),
        (("grep", {"words": "|".join("abcdefghijkl")}), "alternatives"),
        (("bash", {"command": "cat /etc/passwd"}), "there is no tool"),
        (("finish", {"note": ""}), "note"),
        (("finish", {"note": "x", "extra": 1}), "extra"),
    ],
)  # fmt: skip
def test_a_call_that_makes_no_sense_is_answered_with_the_reason(call: tuple[str, dict[str, Any]], said: str) -> None:
    """The model reads what is wrong, and nothing changes."""
    worked = done(call)
    assert worked.results[0].error
    assert said in worked.results[0].content
    assert worked.tree == TREE
    assert worked.finish is None


def test_a_search_is_for_words_and_no_pattern_can_hang_it() -> None:
    """What would take a backtracking expression years is looked for as it stands."""
    tree = {"threads/a.md": "a" * 60_000 + "!\n"}
    began = time.process_time()
    worked = done(("grep", {"words": "(a+)+$"}), ("grep", {"words": ".*"}), tree=tree)
    assert time.process_time() - began < 1
    assert [one.content for one in worked.results] == ["no line holds that"] * 2


def test_what_is_shown_and_written_in_one_round_is_bounded() -> None:
    """Long files are cut, a round shows and writes so much, and a folder holds so many files of the model's."""
    long = {"threads/a.md": "word " * 30_000, **{f"outputs/{n}.md": "x" for n in range(MOST_WRITTEN)}}
    view = ("memory", {"command": "view", "path": "threads/a.md"})
    worked = done(*[view] * 9, tree=long)
    assert sum(size(one.content) for one in worked.results if not one.error) <= MOST_SHOWN_ROUND
    assert worked.results[0].content.endswith("[cut here: view fewer lines]")
    assert "at most 8 calls" in worked.results[MOST_CALLS].content
    new = ("memory", {"command": "create", "path": "skills/new.md", "file_text": "x"})
    assert f"at most {MOST_WRITTEN} files" in done(new, tree=long).results[0].content
    large = ("memory", {"command": "create", "path": "memory/scratchpad.md", "file_text": "é" * SETTINGS.file_bytes})
    assert "bytes" in done(large).results[0].content
    full = (
        "memory",
        {"command": "create", "path": "memory/scratchpad.md", "file_text": "x" * (SETTINGS.file_bytes - 2)},
    )
    worked = done(*[full] * 8)
    assert sum(not one.error for one in worked.results) == MOST_WRITTEN_ROUND // SETTINGS.file_bytes
    hits = done(("grep", {"words": "x"}), tree={"threads/a.md": "x\n" * 10_000}).results[0].content.split("\n")
    assert len(hits) == MOST_HITS + 1


def test_characters_that_no_table_takes_are_replaced() -> None:
    """NUL in a model's answer reaches neither the folder nor the log, and half a surrogate pair is no text."""
    worked = done(("memory", {"command": "create", "path": "memory/scratchpad.md", "file_text": "a\0b"}))
    assert worked.tree["memory/scratchpad.md"] == "a\ufffdb"
    assert done(("memory", {"command": "create", "path": "outputs/a.md", "file_text": "\ud800"})).results[0].error
    worked = done(("memory", {"command": "view", "path": "outputs/\0"}))
    assert "\0" not in worked.results[0].content


def test_a_call_that_was_cut_off_is_answered_and_not_run() -> None:
    """What the model did not end is no call."""
    worked = run_calls(TREE, [ToolCall("1", "memory", {}, malformed="cut off")], SETTINGS)
    assert worked.results[0].error
    assert worked.results[0].content == "cut off"


def test_the_model_writes_nowhere_else() -> None:
    """The folders that are its own begin so, and nothing that merely looks like them."""
    assert is_writable("outputs/report.md")
    assert is_writable("skills/export.md")
    assert not any(map(is_writable, ("outputsx/a.md", "skill/a.md", "memory/facts.md", "knowledge/01.md")))
