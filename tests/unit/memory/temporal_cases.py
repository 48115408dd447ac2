"""Sentences of customers and the days that each speaks of: a line a case, a file a language.

`FIRST..LAST  text`, both days inclusive; `..LAST` opens far back; `-  text` speaks of no time. Now is `NOW`.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from services.memory.periods import Window

NOW = datetime(2026, 3, 18, 15, 30, tzinfo=UTC)  # a Wednesday
FOLDER = Path(__file__).with_suffix("")


@dataclass(frozen=True, slots=True)
class Case:
    """`days` is "" for a sentence that speaks of no time."""

    language: str
    text: str
    days: str


def cases() -> list[Case]:
    """Every case of every language."""
    files = sorted(FOLDER.glob("*.txt"))
    return [_case(file.stem, line) for file in files for line in file.read_text(encoding="utf-8").splitlines()]


def as_days(window: Window | None) -> str:
    """A window as the files write it."""
    if window is None:
        return ""
    first, last = window.start.date(), (window.end - timedelta(microseconds=1)).date()
    return f"{'' if first.year < NOW.year - 90 else first}..{last}"


def _case(language: str, line: str) -> Case:
    days, _, text = line.partition("  ")
    return Case(language, text, "" if days == "-" else days)
