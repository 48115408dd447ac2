"""Three-way merge of a text by lines: changes apart go together, where both changed the same both stand. Pure.

Texts that take too long to be compared conflict as a whole. The algorithm is that of diff3
(Khanna, Kunal and Pierce, "A formal investigation of diff3", 2007).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from difflib import SequenceMatcher

OURS, BETWEEN, THEIRS = "<<<<<<< this investigation", "=======", ">>>>>>> written meanwhile"

Lines = list[str]


def merged(base: str, ours: str, theirs: str) -> tuple[str, bool]:
    """The text with both changes of `base`, and whether some lines conflict: there both stand between marks."""
    if ours == theirs or theirs == base:
        return ours, False
    if ours == base:
        return theirs, False
    was, our, their = (text.splitlines() for text in (base, ours, theirs))
    if not (comparable(was, our) and comparable(was, their)):
        was = []
    in_ours, in_theirs = _places(was, our), _places(was, their)
    lines: Lines = []
    conflict, at = False, (0, 0, 0)
    for place in [*sorted(in_ours.keys() & in_theirs.keys()), len(was)]:
        end = (place, in_ours.get(place, len(our)), in_theirs.get(place, len(their)))
        parts = was[at[0] : end[0]], our[at[1] : end[1]], their[at[2] : end[2]]
        some, clash = _merged(*parts)
        lines += some + was[place : place + 1]
        conflict = conflict or clash
        at = (end[0] + 1, end[1] + 1, end[2] + 1)
    return "".join(f"{line}\n" for line in lines), conflict


def _merged(was: Lines, our: Lines, their: Lines) -> tuple[Lines, bool]:
    """What becomes of lines between two places where all three agree, and whether they conflict."""
    if their in (was, our):
        return our, False
    if our == was:
        return their, False
    return [OURS, *our, BETWEEN, *their, THEIRS], True


def _places(was: Lines, now: Lines) -> dict[int, int]:
    """Where lines of `was` stand in `now`, in order."""
    blocks = SequenceMatcher(None, was, now, autojunk=False).get_matching_blocks()
    return {one.a + step: one.b + step for one in blocks for step in range(one.size)}


# Whether two texts can be compared by lines in time: a model may write what takes a comparison hours. Pure.
MOST_PAIRS = 100_000  # pairs of equal lines, one of each text: what one pass of a comparison looks at


def comparable(was: Sequence[str], now: Sequence[str]) -> bool:
    """Whether the lines are few enough, or differ enough, to be compared within a second or so."""
    counts = Counter(was)
    return sum(counts[line] for line in now) <= MOST_PAIRS
