"""One measured line, the shape in which every benchmark reports."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Measured:
    """A figure: `met` is None where there is no target; `sides` holds both sides of a ratio, by name."""

    name: str
    value: float
    unit: str
    target: float | None = None
    met: bool | None = None
    n: int | None = None
    sides: dict[str, float] | None = None


def at_least(name: str, value: float, unit: str, target: float, n: int) -> Measured:
    """A line whose value should not be below its target."""
    return Measured(name, value, unit, target, value >= target, n)


def at_most(name: str, value: float, unit: str, target: float, n: int) -> Measured:
    """A line whose value should not be above its target."""
    return Measured(name, value, unit, target, value <= target, n)
