"""One measured line, and the table of many: the shape in which every benchmark reports."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

HEAD = "| measured | value | target | met | n | sides |\n|---|---|---|---|---|---|"
MET = {True: "yes", False: "**no**", None: ""}


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

    def row(self) -> str:
        """The line as a row of the Markdown table."""
        target = "" if self.target is None else f"{self.target:g}"
        sides = ", ".join(f"{name} {value:.4g}" for name, value in (self.sides or {}).items())
        return f"| {self.name} | {self.value:.4g} {self.unit} | {target} | {MET[self.met]} | {self.n or ''} | {sides} |"


def at_least(
    name: str, value: float, unit: str, target: float, n: int, sides: dict[str, float] | None = None
) -> Measured:
    """A line whose value should not be below its target."""
    return Measured(name, value, unit, target, value >= target, n, sides)


def at_most(
    name: str, value: float, unit: str, target: float, n: int, sides: dict[str, float] | None = None
) -> Measured:
    """A line whose value should not be above its target."""
    return Measured(name, value, unit, target, value <= target, n, sides)


def percent(part: int, whole: int) -> float:
    """A share in percent, two places; 100 of nothing."""
    return round(100 * part / whole, 2) if whole else 100.0


def table(lines: Iterable[Measured]) -> str:
    """The lines as one Markdown table."""
    return "\n".join([HEAD, *(line.row() for line in lines)])
