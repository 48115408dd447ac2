"""How sure a share is that was seen so few times: the lower bound of Wilson's score interval at 95 %. Pure.

E. B. Wilson, Probable inference, the law of succession, and statistical inference, JASA 22 (1927).
"""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt

Z = 1.959963984540054  # of the normal distribution, for 95 % on both sides


def wilson(good: int, of: int) -> float:
    """The lower bound of the share, 0 to 1; 0 where nothing was seen."""
    if of == 0:
        return 0.0
    share, square = good / of, Z * Z
    middle = share + square / (2 * of)
    spread = Z * sqrt((share * (1 - share) + square / (4 * of)) / of)
    return max(0.0, (middle - spread) / (1 + square / of))


def still_needed(decisions: Sequence[bool], over: int, bound: float) -> int | None:
    """How many further good ones in a row reach the bound, of the last `over`; None where no number does.

    `decisions`: whether each was good, the newest first.
    """
    for further in range(over + 1):
        window = [True] * further + list(decisions[: over - further])
        if wilson(sum(window), len(window)) >= bound:
            return further
    return None
