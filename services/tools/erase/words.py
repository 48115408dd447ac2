"""The words by which a person would be found again, and taking their name out of what others wrote. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from services.core.memory.vocabulary import VOCABULARY

GONE = "[…]"  # stands where a name or an address stood
LEAST_LETTERS = 5
LEAST_DIGITS = 4
_WORD = re.compile(r"[^\W_]+")
_YEAR = re.compile(r"(19|20)\d\d")
_IDS = re.compile(
    r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"  # uuids
    r"|\b[0-9a-f]{32,}\b"  # hashes
    r"|\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d(:?\d\d)?)?",  # times
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Marks:
    """What names a person: addresses and full names, as phrases; and words that nobody else has used."""

    phrases: frozenset[str] = field(repr=False)
    words: frozenset[str] = field(repr=False)

    def __len__(self) -> int:
        return len(self.phrases) + len(self.words)

    def found_in(self, text: str) -> set[str]:
        """Which of them the text holds, whatever the case. Ids and times in it do not count."""
        plain = _IDS.sub(" ", text).casefold()
        return {one for one in self.phrases if one in plain} | (self.words & set(_WORD.findall(plain)))


def words_of(text: str) -> set[str]:
    """Every word of a text, case-folded."""
    return set(_WORD.findall(_IDS.sub(" ", text).casefold()))


def distinctive(words: Iterable[str]) -> frozenset[str]:
    """Those that can identify: numbers that are no year, and longer words that are not everybody's."""
    return frozenset(one for one in words if _is_number(one) or (len(one) >= LEAST_LETTERS and one not in _common()))


def is_phrase(name: str) -> bool:
    """Whether a name can be looked for as it stands: a full name or an address, not a single word."""
    return "@" in name or len(name.split()) > 1


@dataclass(frozen=True, slots=True)
class Redactor:
    """Takes a person's addresses and full names, and words that are theirs alone, out of JSON data and files."""

    phrases: frozenset[str] = field(repr=False)
    words: frozenset[str] = field(default=frozenset(), repr=False)

    def touches(self, value: Any) -> bool:
        """Whether anything in JSON data names the person."""
        found = Marks(self.phrases, self.words)
        return any(found.found_in(text) for text in texts(value))

    def redacted(self, value: Any) -> Any:
        """JSON data without them: entries that are nothing but the person go, in texts `GONE` stands in their place."""
        if isinstance(value, str):
            return value if _IDS.fullmatch(value) else _WORD.sub(self._word, self._pattern().sub(GONE, value))
        if isinstance(value, dict):
            return {name: self.redacted(one) for name, one in value.items()}
        if isinstance(value, list):
            return [self.redacted(one) for one in value if not self._is_person(one)]
        return value

    def redacted_bytes(self, content: bytes) -> bytes:
        """A file without them, where they stand in it as plain text."""
        found = re.compile(b"|".join(re.escape(one.encode()) for one in sorted(self.phrases)), re.IGNORECASE)
        return found.sub(b"...", content) if self.phrases else content

    def _word(self, found: re.Match[str]) -> str:
        return GONE if found[0].casefold() in self.words else found[0]

    def _is_person(self, one: Any) -> bool:
        named = one.get("addr", "") if isinstance(one, dict) else one
        return isinstance(named, str) and named.casefold() in self.phrases

    def _pattern(self) -> re.Pattern[str]:
        longest_first = sorted(self.phrases, key=len, reverse=True)
        return re.compile("|".join(map(re.escape, longest_first)) or r"(?!)", re.IGNORECASE)


def texts(value: Any) -> Iterator[str]:
    """Every text in JSON data."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for one in value.values():
            yield from texts(one)
    elif isinstance(value, list | tuple):
        for one in value:
            yield from texts(one)


def marks(names: Collection[str], own: Iterable[str], others: Collection[str]) -> Marks:
    """What to look for: of the person's own words those that can identify and that nobody else has used."""
    phrases = frozenset(one.casefold() for one in names if is_phrase(one))
    parts = {word for name in names if "@" not in name for word in words_of(name) if len(word) > 2}
    return Marks(phrases, (distinctive(own) | parts) - frozenset(others))


def _is_number(word: str) -> bool:
    return sum(one.isdigit() for one in word) >= LEAST_DIGITS and not _YEAR.fullmatch(word)


@cache
def _common() -> frozenset[str]:
    """The words that the embedder knows whole: the common English ones."""
    return frozenset(VOCABULARY.read_text(encoding="utf-8").split())
