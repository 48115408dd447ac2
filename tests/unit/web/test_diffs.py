"""A unified diff as files and runs: what it says of two texts, whatever stands in them."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from services.investigate.closing import diff_of
from services.web.console.diffs import Run, files_in

PAD, SKILL = "memory/scratchpad.md", "skills/a.md"
LINES = st.lists(st.sampled_from(["a", "b", "", "-- a/x", "++ b/x", "@@ -1 +1 @@", " c", "[cut here]"]), max_size=30)


def side(place: tuple[Run, ...], left_out: str) -> list[str]:
    """The lines that one of the two texts has there."""
    return [line for run in place if run.kind != left_out for line in run.lines]


def stand_in(lines: list[str], text: list[str]) -> bool:
    """Whether the lines follow each other somewhere in a text."""
    return any(text[at : at + len(lines)] == lines for at in range(len(text) + 1))


@given(before=LINES, after=LINES)
def test_no_line_of_a_text_passes_for_a_part_of_the_diff(before: list[str], after: list[str]) -> None:
    """Each place holds lines of both texts as they follow there, and all places together what was added and taken away."""
    texts = ("".join(f"{line}\n" for line in lines) for lines in (before, after))
    was, now = ({PAD: text, SKILL: "-- x\n"} for text in texts)
    *found, last = files_in(diff_of(was, now | {SKILL: "++ y\n"}))
    assert [(run.kind, run.lines) for run in last.places[0]] == [("out", ("-- x",)), ("in", ("++ y",))]
    assert len(found) == int(before != after)
    for file in found:
        assert all(stand_in(side(place, "in"), before) and stand_in(side(place, "out"), after) for place in file.places)
        gone, come = (
            sum(len(run.lines) for place in file.places for run in place if run.kind == kind) for kind in ("out", "in")
        )
        assert len(before) - gone == len(after) - come


def test_a_diff_that_is_cut_shows_what_is_there() -> None:
    """The mark of the cut is no line of the text."""
    (file,) = files_in("--- a/x\n+++ b/x\n@@ -1,9 +1,9 @@\n same\n-one\n+two\n[cut here]\n")
    assert [(run.kind, *run.lines) for run in file.places[0]] == [("same", "same"), ("out", "one"), ("in", "two")]
    assert files_in("") == files_in("no diff\n") == []
