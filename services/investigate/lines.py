"""Whether two texts can be compared by lines in time: a model may write what takes a comparison hours. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

MOST_PAIRS = 100_000  # pairs of equal lines, one of each text: what one pass of a comparison looks at


def comparable(was: Sequence[str], now: Sequence[str]) -> bool:
    """Whether the lines are few enough, or differ enough, to be compared within a second or so."""
    counts = Counter(was)
    return sum(counts[line] for line in now) <= MOST_PAIRS
