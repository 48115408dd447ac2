"""No regular expression that meets mail takes more than time linear in its text, whatever the text."""

from __future__ import annotations

import pkgutil
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from time import perf_counter
from typing import Any

import pytest

from services.core.wording import bounded, lines_of, plain_lines_of
from services.mail.reports import wording
from services.memory import wording as memory_wording
from services.memory.phrases.language import NAMES, language_of
from tests.support.cpu import TooSlow, at_most
from tests.support.patterns import (
    CLASSES,
    SERVICES,
    Used,
    hostile_texts,
    modules_of,
    patterns_of,
    patterns_within,
    told_apart,
    use,
)

pytestmark = pytest.mark.timeout(900)
NO_MAIL = ("services.cli", "services.demo")  # what an operator types, and what we invent
PACKAGES = tuple(
    name
    for name in (f"services.{one.name}" for one in pkgutil.iter_modules([str(SERVICES)]))
    if name not in (*NO_MAIL, "services.__main__")
)
REPORT_WORDING = sorted(path.stem for path in Path(wording.__path__[0]).glob("*.txt"))
REPORT_LINES = [
    pytest.param(name, line, id=f"{name}-{number}")
    for name in REPORT_WORDING
    for number, line in enumerate(lines_of(wording.__name__, name))
]
FACT_WORDING = sorted(path.stem for path in Path(memory_wording.__path__[0]).glob("*.txt"))
PROBE, PART, FULL = 3_000, 10_000, 100_000
FULL_SECONDS = 2.5  # of CPU; quadratic in 100 kB is 25 s and more
# Seconds for the probe and for the part: a pattern that takes no more is done with the whole in time, even if it is quadratic.
AT_ONCE, PART_AT_ONCE = (FULL_SECONDS * (size / FULL) ** 2 for size in (PROBE, PART))


def slow(used: Used) -> str:
    """The method and text on which a pattern is too slow, or ""; more of it is tried where less of it took time."""
    return next(filter(None, (_slow(used.pattern, method) for method in used.methods)), "")


@cache
def _slow(pattern: re.Pattern[Any], method: str) -> str:
    """Several modules hold one pattern, and use it in one way: it is measured once."""
    for text in hostile_texts(pattern):
        try:
            _meets(Used("", pattern, (method,)), method, text)
        except TooSlow:
            return f"{method} on {text(PROBE)[:60]!r}..."
    return ""


def _meets(used: Used, method: str, text: Callable[[int], str | bytes]) -> None:
    """Raises `TooSlow` where the pattern takes more time than one that is linear in the longest of the texts."""
    begun = perf_counter()
    probe = _seconds(used, method, text(PROBE))
    if perf_counter() - begun <= AT_ONCE:  # no CPU time is longer, and many a system counts that in steps of 4 ms
        return
    part = _seconds(used, method, text(PART))
    whole = _whole(probe, part) if part > PART_AT_ONCE else 0.0
    if whole > 2 * FULL_SECONDS:  # steps of 4 ms put it wrong by less than one
        raise TooSlow(f"{whole:.0f} s of CPU for the whole")
    if whole > FULL_SECONDS / 2:
        _seconds(used, method, text(FULL))


def _seconds(used: Used, method: str, text: str | bytes) -> float:
    """CPU seconds for the text; at most twice its share of what the whole may take, which none that is linear takes."""
    with at_most(FULL_SECONDS * min(1.0, 2 * len(text) / FULL)) as used_cpu:
        use(used, method, text)
        return used_cpu()


def _whole(probe: float, part: float) -> float:
    """CPU seconds for the whole of a pattern of which some steps are linear and some quadratic."""
    quadratic = max(0.0, (part / PART - probe / PROBE) / (PART - PROBE))
    return (part / PART - quadratic * PART) * FULL + quadratic * FULL**2


@pytest.mark.parametrize("module", [name for package in PACKAGES for name in modules_of(package)])
def test_every_pattern_is_linear_on_runs_of_each_class_and_of_its_own_tokens(module: str) -> None:
    """Runs of 100 kB of each class of character, and of what a pattern itself repeats, are matched in linear time."""
    found = {used.place: (used.pattern.pattern, where) for used in patterns_of(module) if (where := slow(used))}
    assert not found


@pytest.mark.parametrize(("name", "line"), REPORT_LINES)
def test_every_pattern_of_the_wording_files_is_linear(name: str, line: str) -> None:
    """The lines of the wording files are patterns, too: each alone is linear on whatever is sent."""
    methods = ("match",) if name.endswith("subjects") else ("search",)
    assert not slow(Used(name, re.compile(bounded(line), re.S), methods))


@pytest.mark.parametrize("name", FACT_WORDING)
def test_every_pattern_of_the_fact_wording_is_linear(name: str) -> None:
    """What is learnt of customers is looked for in patterns, too: each line of a file is linear on whatever is sent."""
    patterns = [re.compile(line, re.MULTILINE) for line in plain_lines_of(memory_wording.__name__, name)]
    assert [(one.pattern, where) for one in patterns if (where := slow(Used(name, one, ("search",))))] == []


@pytest.mark.parametrize("name", NAMES)
def test_every_phrase_of_time_is_linear(name: str) -> None:
    """The phrases of time of each language are patterns that meet what customers write."""
    for _, pattern in patterns_within(language_of(name)):
        assert not slow(Used(name, pattern, ("search",))), pattern.pattern


@pytest.mark.parametrize("package", PACKAGES)
def test_no_bound_is_lost_in_an_f_string(package: str) -> None:
    """`{0, 20}` in an f-string is a pair that is printed, "(0, 20)", and a pattern that matches nothing of a mail."""
    patterns = (used for module in modules_of(package) for used in patterns_of(module))
    lost = re.compile(r"(?<!\\)(?:\(\d+, \d*\)|\{\d*, \d*\})")
    texts = {used.place: used.pattern.pattern for used in patterns if isinstance(used.pattern.pattern, str)}
    assert {place: text for place, text in texts.items() if lost.search(text)} == {}


@pytest.mark.parametrize(
    ("pattern", "kept"),
    [
        (r"\w+@\w+", " \na@"),
        (r"(?i)a|[^,;]", " \na0,"),
        (r"(?i:a)(?-i:A)é", " \na0Aé"),
        (r"(-)?(?(1)\d|(?!_)(?>@))*+\1", " \na0_@-"),
        (rb"a", CLASSES),
    ],
)
def test_each_character_that_a_pattern_tells_from_others_is_tried(pattern: str | bytes, kept: str) -> None:
    """One stands for all that match the same parts of the pattern, whatever group the part is in; words and lines count."""
    assert set(told_apart(re.compile(pattern))) == set(kept)


def test_a_quadratic_pattern_is_found() -> None:
    """The measure itself finds the patterns that stopped a reader: a run before a token, and two runs in a row."""
    assert slow(Used("a run before a token", re.compile(r"[\s\W]*x"), ("search",)))
    assert slow(Used("two runs in a row", re.compile(r"a\s*\s*b"), ("match",)))
    assert not slow(Used("a word", re.compile(r"\bword\b"), ("search", "sub")))
