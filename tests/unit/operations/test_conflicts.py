"""What two investigations wrote at once, taken out of a merged file."""

from __future__ import annotations

import pytest

from services.investigate.merge import merged
from services.operations.investigations.listing import Clash, clashes

BASE = "a\nb\nc\n"


@pytest.mark.parametrize(
    ("this", "meanwhile", "found"),
    [
        ("A\nb\nc\n", "AA\nb\nc\n", [Clash("A", "AA")]),
        ("A\nb\nC\n", "AA\nb\nCC\n", [Clash("A", "AA"), Clash("C", "CC")]),
        ("", "AA\nBB\nCC\n", [Clash("", "AA\nBB\nCC")]),
        ("A\nb\nc\n", "a\nb\nC\n", []),
    ],
)
def test_both_sides_of_each_conflict_are_found(this: str, meanwhile: str, found: list[Clash]) -> None:
    """As many as the merge marked, in their order; a file without any has none."""
    assert list(clashes(merged(BASE, this, meanwhile)[0])) == found


def test_marks_that_are_not_whole_are_no_conflict() -> None:
    """A file that a model settled by half shows nothing wrong."""
    assert list(clashes("<<<<<<< this investigation\na\n")) == []
    assert list(clashes("=======\na\n>>>>>>> written meanwhile\n")) == []
