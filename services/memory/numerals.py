"""Numbers in words: where a text says one, and which. Pure.

"fifteen hundred", "fünfundfünfzig", "quatre-vingt-dix", "two dozen" and "2k" are numbers; "five ten" is none. The words
of all languages are one table: where two languages share a spelling, they share the number.
"""

from __future__ import annotations

import importlib.resources
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from re import Pattern

from services.memory import wording
from services.memory.phrases.language import folded

_A = "(?:an?|eine?|une?|una|uno?|uma?|een)"  # of "a dozen"
MOST = 9  # words that one number is put together of


@dataclass(frozen=True, slots=True)
class Numerals:
    """`run` finds words of a number that stand together, `parts` those words; `measures`: (kind, size) by name.

    `joins` may stand between two.
    """

    run: Pattern[str]
    parts: Pattern[str]
    joins: frozenset[str]
    ones: Mapping[str, int]
    times: Mapping[str, int]
    measures: Mapping[str, tuple[str, int]]
    days: Mapping[str, int]


def digits(text: str) -> str:
    """The text in small letters with its numbers in digits."""
    return _with_digits(text.casefold())


def in_digits(text: str) -> str:
    """The text with its numbers in digits; it may be long."""
    parts, at = [], 0
    for start, end, number in numbers_told(text):
        parts += [text[at:start], number]
        at = end
    return "".join([*parts, text[at:]])


def day_of_month(words: str) -> int | None:
    """The day of a month that words are ("first", "twenty-first", "ersten"), 1 to 31; None for any other words."""
    plain, days = folded(words.casefold()).replace("-", " "), _table().days
    return days.get(plain) or next((days[one] for end in _ENDINGS if (one := plain.removesuffix(end)) in days), None)


def numbers_told(text: str) -> Iterator[tuple[int, int, str]]:
    """Where a text says a number in words, from and to, and its digits."""
    plain = folded(text)
    for found in _table().run.finditer(plain) if len(plain) == len(text) else ():
        number = _number(found.group())
        if number is not None:
            yield found.start(), found.end(), number


def measured(value: str) -> tuple[str, float] | None:
    """A value with its measure as a number of the smallest: "1.5 TB" and "1500 GB"; None for anything else."""
    found = _MEASURED.fullmatch(value)
    measure = _table().measures.get(found[2]) if found else None
    return (measure[0], round(float(found[1]) * measure[1], 6)) if found and measure else None


_ENDINGS = ("e", "en", "er", "es")  # of German ordinals
_MEASURED = re.compile(r"(\d{1,12}(?:\.\d{1,3})?) ?([a-z]{1,7})")


@lru_cache(maxsize=4096)
def _with_digits(text: str) -> str:
    return in_digits(text)


def _number(run: str) -> str | None:
    """The number that these words are, in digits; None where they are several, or none."""
    table = _table()
    parts = [one for one in table.parts.findall(run) if one not in table.joins]
    total, current, last = 0.0, 0.0, 0.0
    for place, part in enumerate(parts):
        if part[0].isdigit():
            if place:
                return None
            current = last = float(part.replace(",", "."))
        elif part in table.times:
            by = table.times[part]
            if place and last >= by:
                return None
            total, current = (total + (current or 1) * by, 0) if by >= 1000 else (total, (current or 1) * by)
            last = by
        else:
            one = table.ones[" ".join(part.replace("-", " ").split())]
            if place and not _follows(last, one, run):
                return None
            current, last = current + one, one
    whole = total + current
    return str(int(whole)) if whole == int(whole) and not run.isdigit() else None


def _follows(last: float, one: int, run: str) -> bool:
    """Whether a number may go on with this one: less after hundreds, ones after tens, in one word also before them."""
    if last >= 100:
        return one < last
    if last in (60, 80):
        return one < 20
    if last % 10 == 0 and last:
        return one < 10
    return last < 10 and 20 <= one < 100 and " " not in run


@cache
def _table() -> Numerals:
    source = (importlib.resources.files(wording) / "numerals.toml").read_text(encoding="utf-8")
    file = tomllib.loads(source)
    joins = frozenset(file["joins"].split("|"))
    part, times = _any_of((*file["ones"], *file["times"])), _any_of(file["times"])
    between = rf"(?:[\s-]?(?:(?:{_any_of(joins)})[\s-]?)?)"
    several = rf"(?:{_A}\s(?={times}))?(?:{part})(?:{between}(?:{part})){{0,{MOST}}}"
    run = rf"(?<![\w.,])(?:\d{{1,6}}(?:[.,]\d{{1,2}})?\s?(?:{times})|{several})(?!\w)"
    measures = {name.split()[1]: (name.split()[0], size) for name, size in file["measures"].items()}
    parts = rf"\d+(?:[.,]\d+)?|{_any_of((*file['ones'], *file['times'], *joins))}"
    return Numerals(re.compile(run), re.compile(parts), joins, file["ones"], file["times"], measures, file["days"])


def _any_of(words: Iterable[str]) -> str:
    """Any of these words, the longest first; a space may be a hyphen."""
    return "|".join(one.replace(" ", r"[\s-]") for one in sorted(words, key=len, reverse=True))
