"""How a world is drawn: from a seed, or, for seed 0, always the first of everything."""

from __future__ import annotations

import random  # noqa: TID251 - a generator's own seeded instance; nothing here touches the global one
from collections.abc import Sequence
from typing import Protocol, TypeVar

T = TypeVar("T")


class Dice(Protocol):
    """Draws, in the order in which they are asked for."""

    def pick(self, options: Sequence[T]) -> T:
        """One of `options`."""
        ...

    def some(self, options: Sequence[T], count: int) -> list[T]:
        """`count` different ones of `options`."""
        ...

    def number(self, low: int, high: int, step: int = 1) -> int:
        """A whole number from `low` to `high`, both included, in steps."""
        ...

    def key(self) -> bytes:
        """32 bytes for a signing key of this world; no secret is kept with them."""
        ...


class Drawn:
    """Dice of one seed."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def pick(self, options: Sequence[T]) -> T:
        """One of `options`, each as likely as the next."""
        return self._random.choice(options)

    def some(self, options: Sequence[T], count: int) -> list[T]:
        """`count` different ones, in drawn order."""
        return self._random.sample(list(options), count)

    def number(self, low: int, high: int, step: int = 1) -> int:
        """A whole number of the range."""
        return self._random.randrange(low, high + 1, step)

    def key(self) -> bytes:
        """32 drawn bytes."""
        return self._random.randbytes(32)


class Canonical(Drawn):
    """The first of everything: the world that the README tells of."""

    def pick(self, options: Sequence[T]) -> T:
        """The first."""
        return options[0]

    def some(self, options: Sequence[T], count: int) -> list[T]:
        """The first `count`."""
        return list(options[:count])

    def number(self, low: int, high: int, step: int = 1) -> int:
        """The lowest."""
        return low


def dice_of(seed: int) -> Dice:
    """The dice of a seed; 0 is the canonical world."""
    return Drawn(seed) if seed else Canonical(0)
