"""A language as its file has it: names, phrases, and the words around them, as patterns over folded text.

Patterns are written in small letters, accents or not; a space stands for any white space. In a phrase `{month}` is any
name of a month, `{count}` a number and so on; what stands left of ` ~ ` has to come directly before the phrase and is
no part of it. A file may define further names for its own phrases under `[sets]`.
"""

from __future__ import annotations

import importlib.resources
import re
import tomllib
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from re import Pattern
from typing import Any, Literal, cast

Kind = Literal["numeric", "date", "month", "year", "season", "holiday", "weekday", "fixed", "one", "some", "ago"]
Bound = Literal["before", "until", "by", "after", "since"]
Names = tuple[tuple[Pattern[str], Any], ...]

NAMES = ("english", "german", "french", "spanish", "italian", "polish", "russian", "japanese")

_WORD = re.compile(r"[^\W\d_]+")
_LOOKS = {"’": "'", "ʼ": "'", "`": "'", "ł": "l"}  # what no decomposition knows


@dataclass(frozen=True, slots=True)
class Phrase:
    """A phrase of some kind, and what has to stand before it (None: anything)."""

    kind: Kind
    pattern: Pattern[str]
    lead: Pattern[str] | None


@dataclass(frozen=True, slots=True)
class Language:
    """What one language says of time. `names` gives the value of a name by its group: `month`, `unit`, `count`, ..."""

    marks: frozenset[str]
    script: Pattern[str] | None
    phrases: tuple[Phrase, ...]
    names: Mapping[str, Names]
    bounds: tuple[tuple[Bound, Pattern[str]], ...]
    bounds_behind: tuple[tuple[Bound, Pattern[str]], ...]
    unless: Pattern[str] | None
    leading: Pattern[str] | None

    def value(self, group: str, written: str) -> Any:
        """What a name means. Raises ValueError for one that is not known."""
        for pattern, meant in self.names[group]:
            if pattern.fullmatch(written):
                return meant
        raise ValueError(written)

    def marked(self, text: str) -> int:
        """How many words of a folded text speak for this language."""
        words = len(self.marks & set(_WORD.findall(text)))
        return words + (len(self.script.findall(text)) if self.script else 0)


def folded(text: str) -> str:
    """A text as it is compared: small letters without accents, as many characters as its NFC form."""
    return "".join(_letter(one) for one in unicodedata.normalize("NFC", text))


def spoken(text: str) -> tuple[Language, ...]:
    """The languages that a folded text may be in: those that most of its small words speak for, else all."""
    counted = [(language.marked(text), language) for language in map(language_of, NAMES)]
    most = max(count for count, _ in counted)
    return tuple(language for count, language in counted if count == most)


@cache
def language_of(name: str) -> Language:
    """A language by the name of its file."""
    source = (importlib.resources.files(__package__) / f"{name}.toml").read_text(encoding="utf-8")
    return _Reader(tomllib.loads(source)).language()


@cache
def _letter(one: str) -> str:
    plain = [part for part in unicodedata.normalize("NFKD", one.casefold()) if not unicodedata.combining(part)]
    return _LOOKS.get(plain[0], plain[0]) if len(plain) == 1 else one


class _Reader:
    """Puts a file's names into its phrases and compiles them."""

    def __init__(self, file: Mapping[str, Any]) -> None:
        self._file = file
        self._spaced = file.get("spaced", True)
        self._sets = {**_groups(file), **file.get("sets", {})}

    def language(self) -> Language:
        file = self._file
        script, unless, leading = (file.get(name) for name in ("script", "unless", "leading"))
        return Language(
            marks=frozenset(folded(file.get("marks", "")).split()),
            script=re.compile(script) if script else None,
            phrases=tuple(self._phrase(kind, one) for kind, some in file["phrases"].items() for one in some),
            names={group: _named(table) for group, table in _tables(file).items()},
            bounds=tuple((cast(Bound, bound), self._before(one)) for bound, one in file["bounds"].items()),
            bounds_behind=tuple(
                (cast(Bound, bound), re.compile(self._expanded(one))) for bound, one in file.get("behind", {}).items()
            ),
            unless=self._before(unless) if unless else None,
            leading=self._before(leading) if leading else None,
        )

    def _phrase(self, kind: Kind, written: str) -> Phrase:
        lead, _, phrase = written.rpartition(" ~ ")
        start, end = (r"(?<!\w)", r"(?!\w)") if self._spaced else (r"(?<!\d)", "")
        pattern = re.compile(f"{start}(?:{self._expanded(phrase)}){end}")
        return Phrase(kind, pattern, self._before(lead) if lead else None)

    def _before(self, words: str) -> Pattern[str]:
        """Words that end a text; after an apostrophe or a hyphen no space has to follow."""
        if not self._spaced:
            return re.compile(rf"(?:{self._expanded(words)})$")
        articles = f"(?: (?:{one}))?" if (one := self._file.get("articles")) else ""
        return re.compile(rf"(?<!\w)(?:{self._expanded(words)}){_plain(articles)}(?:\s+|(?<=['-]))$")

    def _expanded(self, written: str) -> str:
        while (expanded := re.sub(r"\{([a-z_]+)\}", lambda name: f"(?:{self._sets[name[1]]})", written)) != written:
            written = expanded
        return _plain(written)


def _plain(pattern: str) -> str:
    """A pattern for folded text: its letters without accents, and any white space for a space."""
    plain = "".join(one if one.isascii() else _letter(one) for one in pattern)
    return plain.replace(" ?", r"\s*").replace(" ", r"\s+")


def _tables(file: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """The names that phrases are made of, by group: what is written, and what it means."""
    return {
        "month": {one: number for number, one in enumerate(file["months"], start=1)},
        "weekday": {one: number for number, one in enumerate(file["weekdays"])},
        "unit": {one: unit for unit, one in file["units"].items()},
        "season": {one: season for season, one in file["seasons"].items()},
        "holiday": {one: holiday for holiday, one in file["holidays"].items()},
        "count": {**file["counts"], "[0-9]{1,3}": None},
        "fixed": file["fixed"],
    }


def _groups(file: Mapping[str, Any]) -> dict[str, str]:
    """The sets that every language has."""
    named = {group: f"(?P<{group}>{'|'.join(table)})" for group, table in _tables(file).items()}
    which = "|".join(f"(?P<{name}>{file['which'][name]})" for name in ("last", "this", "next"))
    return {
        **named,
        "day": "(?P<day>[0-9]{1,2})",
        "m": "(?P<m>[0-9]{1,2})",
        "year": "(?P<year>(?:19|20)[0-9]{2})",
        "which": f"(?:{which})",
        "last": f"(?P<last>{file['which']['last']})",
        "anyday": f"(?:{'|'.join(file['weekdays'])})",
        "anymonth": f"(?:{'|'.join(file['months'])})",
    }


def _named(table: Mapping[str, Any]) -> Names:
    return tuple((re.compile(_plain(one)), meant) for one, meant in table.items())
