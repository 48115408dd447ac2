"""Where a kept file holds what two investigations wrote at once. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from services.investigate.merge import BETWEEN, OURS, THEIRS


@dataclass(frozen=True, slots=True)
class Clash:
    """The same lines, as the one that ended later and as those before it wrote them."""

    this: str
    meanwhile: str


def clashes(text: str) -> Iterator[Clash]:
    """Those of a kept file, in order; none: they were settled since."""
    for part in text.split(f"{OURS}\n")[1:]:
        this, between, rest = part.partition(f"{BETWEEN}\n")
        meanwhile, end, _ = rest.partition(THEIRS)
        if between and end:
            yield Clash(this.rstrip("\n"), meanwhile.rstrip("\n"))
