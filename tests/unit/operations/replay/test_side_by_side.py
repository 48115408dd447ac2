"""Two texts side by side."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from services.operations.replay.show import Row, rows


def test_equal_texts_change_nothing() -> None:
    """Where nothing differs no row is marked."""
    assert not any(row.changed for row in rows("a\nb\nc", "a\nb\nc"))


def test_a_changed_line_stands_beside_the_new_one() -> None:
    """The old and the new line share a row, between the lines that stayed."""
    assert rows("a\nold\nz", "a\nnew\nz") == (Row("a", "a", False), Row("old", "new", True), Row("z", "z", False))


def test_an_added_line_has_an_empty_side() -> None:
    """What was not there before has nothing on the left."""
    assert Row("", "new", True) in rows("a", "a\nnew")


def test_a_long_equal_run_is_left_out_but_for_its_edges() -> None:
    """Only one line around a change is shown of a run that stayed."""
    run = "\n".join(f"line {number}" for number in range(50))
    shown = [row.left for row in rows(f"old\n{run}\nold", f"new\n{run}\nnew")]
    assert shown == ["old", "line 0", "...", "line 49", "old"]


def test_a_long_line_is_wrapped_on_its_side() -> None:
    """No side is wider than the width that was asked for."""
    assert all(len(row.left) <= 10 and len(row.right) <= 10 for row in rows("word " * 20, "other " * 20, 10))


@given(st.text("ab\n", max_size=60), st.text("ab\n", max_size=60))
def test_every_changed_character_is_shown(before: str, after: str) -> None:
    """Rows are marked exactly where the texts differ in more than line ends at their end."""
    changed = [row for row in rows(before, after) if row.changed]
    assert bool(changed) is (before.splitlines() != after.splitlines())
