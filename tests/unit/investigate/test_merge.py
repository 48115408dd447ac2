"""Two who changed a text apart are put together; where both changed the same lines, both stand."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.investigate.merge import BETWEEN, OURS, THEIRS, merged

LINES = st.lists(st.sampled_from("abcdef"), max_size=8).map(lambda some: "".join(f"{one}\n" for one in some))


@pytest.mark.parametrize(
    ("base", "ours", "theirs", "text"),
    [
        ("", "", "", ""),
        ("a\n", "a\n", "a\nb\n", "a\nb\n"),
        ("a\n", "a\nb\n", "a\n", "a\nb\n"),
        ("a\n", "b\n", "b\n", "b\n"),
        ("a\nb\nc\nd\ne\n", "A\nb\nc\nd\ne\n", "a\nb\nc\nd\nE\n", "A\nb\nc\nd\nE\n"),
        ("a\nb\nc\n", "b\nc\n", "a\nb\nc\nd\n", "b\nc\nd\n"),
        ("a\nb\nc\n", "", "a\nb\nc\n", ""),
    ],
)
def test_changes_apart_go_together(base: str, ours: str, theirs: str, text: str) -> None:
    """Whoever changed a place alone has it; what both did the same is done once."""
    assert merged(base, ours, theirs) == (text, False)


def test_the_same_lines_changed_otherwise_stand_both_between_marks() -> None:
    """Nothing of either is lost, and what both left alone stands around them."""
    text, conflict = merged("a\nb\nc\n", "a\nx\nc\n", "a\ny\nc\n")
    assert conflict
    assert text == f"a\n{OURS}\nx\n{BETWEEN}\ny\n{THEIRS}\nc\n"
    assert merged("", "x\n", "y\n") == (f"{OURS}\nx\n{BETWEEN}\ny\n{THEIRS}\n", True)


@given(LINES, LINES)
def test_one_who_changed_nothing_changes_nothing(base: str, other: str) -> None:
    """A side that is as it was gives way to the other whole."""
    assert merged(base, base, other) == (other, False)
    assert merged(base, other, base) == (other, False)
    assert merged(base, other, other) == (other, False)


@given(LINES, LINES, LINES)
def test_no_line_that_one_added_is_lost(base: str, ours: str, theirs: str) -> None:
    """What either wrote that was not there before stands in the merged text; so it does with sides exchanged."""
    for one, other in ((ours, theirs), (theirs, ours)):
        text, _ = merged(base, one, other)
        assert (set(one.split()) | set(other.split())) - set(base.split()) <= set(text.split())


def test_texts_made_to_be_slow_are_merged_in_time() -> None:
    """Files are bounded; the worst that fit are merged within seconds of CPU."""
    base = "".join(f"{n % 7}\n" for n in range(2_000))
    ours = "".join(f"{n * 3 % 7}\n" for n in range(2_000))
    theirs = "".join(f"{n * 5 % 7}\n" for n in range(2_000))
    began = time.process_time()
    merged(base, ours, theirs)
    assert time.process_time() - began < 20
