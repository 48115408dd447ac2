"""The words by which a person would be found again, and taking the person out of a mail that others wrote. Pure.

Invariants
- One matcher finds and removes: what has been removed is not found, and what is not found was not removed.
- A phrase matches as a whole: the address `a@b.example` stands neither in `maria@b.example` nor in `a@b.example.org`.
- Addresses and Message-IDs fold ASCII letters alone: an address with a Kelvin sign is somebody else's.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from services.memory.vocabulary import VOCABULARY

GONE = "[…]"  # stands where a name or an address stood
LEAST_LETTERS = 5
LEAST_DIGITS = 4
AS_IT_IS = frozenset({"attachments", "author", "message_id"})
LISTS_OF_IDS = frozenset({"in_reply_to", "references", "awaits"})
NOISE = 20  # a text has fewer than one undecodable byte in so many characters
LONGEST_NAME = 200  # characters before an address in which its name is looked for
_WORD = re.compile(r"[^\W_]+")
_YEAR = re.compile(r"(19|20)\d\d")
_MESSAGE_ID = re.compile(r"<?([^\s<>@]{1,250}@[^\s<>@]{1,250})>?")
_IDS = re.compile(
    r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"  # uuids
    r"|\b[0-9a-f]{32,}\b"  # hashes
    r"|\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d(:?\d\d)?)?",  # times
    re.IGNORECASE,
)
_ASCII = str.maketrans("ABCDEFGHIJKLMNOPQRSTUVWXYZ", "abcdefghijklmnopqrstuvwxyz")
# What an address goes on with on either side. An apostrophe does so inside a word alone: 'a@b.example' is a quotation.
_BEFORE, _AFTER = r"(?<![\w.+%&~$!-])(?<!\w')", r"(?![\w-])(?!\.\w)"


@dataclass(frozen=True, slots=True)
class Marks:
    """What names a person: addresses, Message-IDs and full names, as phrases; and words that nobody else has used."""

    phrases: frozenset[str] = field(repr=False)
    words: frozenset[str] = field(repr=False)

    def __len__(self) -> int:
        return len(self.phrases) + len(self.words)

    def found_in(self, text: str) -> set[str]:
        """Which of them the text holds, whatever the case. Ids and times in it do not count."""
        found = self._among(text)
        return self._among(_IDS.sub(" ", text)) if found else found

    def _among(self, text: str) -> set[str]:
        words = self.words & set(_WORD.findall(text.casefold())) if self.words else frozenset[str]()
        return {one for one in self.phrases if _stands_in(one, text)} | words

    def found_in_any(self, text: str) -> set[str]:
        """`found_in`, but among bytes that are no text, where a short word stands by chance, for longer ones alone."""
        if text.count("\ufffd") * NOISE <= len(text):
            return self.found_in(text)
        return Marks(self.phrases, frozenset(one for one in self.words if len(one) >= LEAST_LETTERS)).found_in(text)

    def without(self, said: Collection[str]) -> Marks:
        """Those of them that are not among `said`."""
        return Marks(self.phrases - frozenset(said), self.words - frozenset(said))


def words_of(text: str) -> set[str]:
    """Every word of a text, case-folded."""
    return set(_WORD.findall(_IDS.sub(" ", text).casefold()))


def distinctive(words: Iterable[str]) -> frozenset[str]:
    """Those that can identify: numbers that are no year, and longer words that are not everybody's."""
    return frozenset(one for one in words if _is_number(one) or (len(one) >= LEAST_LETTERS and one not in _common()))


def full_name(name: str) -> str:
    """A display name as a search takes it, or nothing where it is a single word or an address: anybody's may be."""
    folded = _lower(" ".join(name.split()))
    return folded if len(_WORD.findall(folded)) > 1 and "@" not in name else ""


def is_distinctive(name: str) -> bool:
    """Whether one of its words is not everybody's: who is called "Order Number" has no claim on what others write."""
    return any(len(one) > 2 and not one.isdigit() and one not in _common() for one in _WORD.findall(name))


def message_id(text: str) -> str:
    """A Message-ID as a search takes it, or nothing where it is none: the header is free text for whoever writes it."""
    found = _MESSAGE_ID.fullmatch(text)
    return found[1].translate(_ASCII) if found else ""


@dataclass(frozen=True, slots=True)
class Redactor:
    """Takes a person's addresses, Message-IDs and full names out of JSON data.

    Who wrote it, its own id and what was attached stay as they are. A Message-ID goes out of lists of such, never out
    of a text: it may be chosen to read like another's address. `beside` are names that go where they stand next to one
    of the addresses, as in a header or over a quotation.
    """

    phrases: frozenset[str] = field(repr=False)
    beside: frozenset[str] = field(default=frozenset(), repr=False)
    ids: frozenset[str] = field(default=frozenset(), repr=False)

    def touches(self, value: Any) -> bool:
        """Whether anything in JSON data names the person."""
        found = Marks(self.phrases, frozenset())
        return any(found.found_in(text) for text in texts(value))

    def redacted(self, value: Any) -> Any:
        """JSON data without them: entries that are nothing but the person go, in texts `GONE` stands in their place."""
        if isinstance(value, str):
            return value if _IDS.fullmatch(value) else self._without(value)
        if isinstance(value, dict):
            return {name: self._field(name, one) for name, one in value.items()}
        if isinstance(value, list):
            return [self.redacted(one) for one in value if not self._is_person(one)]
        return value

    def _field(self, name: str, value: Any) -> Any:
        if name in LISTS_OF_IDS:
            return [one for one in value if message_id(one) not in self.ids]
        return value if name in AS_IT_IS else self.redacted(value)

    def _is_person(self, one: Any) -> bool:
        named = one.get("addr", "") if isinstance(one, dict) else one
        return isinstance(named, str) and named.translate(_ASCII) in self.phrases

    def _without(self, text: str) -> str:
        spans = sorted(self._with_name(text, *span) for one in self.phrases for span in _spans(one, text))
        parts, end = list[str](), 0
        for start, stop in spans:
            if start >= end:
                parts += [text[end:start], GONE]
            end = max(end, stop)
        return "".join([*parts, text[end:]])

    def _with_name(self, text: str, start: int, stop: int) -> tuple[int, int]:
        """A span of an address from where the name before it begins."""
        if not self.beside or "@" not in text[start:stop]:
            return start, stop
        before = max(0, start - LONGEST_NAME)
        found = self._name_before().search(_lower(text[before:start]))
        return (before + found.start(), stop) if found else (start, stop)

    def _name_before(self) -> re.Pattern[str]:
        names = "|".join(re.escape(one) for one in sorted(self.beside, key=len, reverse=True))
        return re.compile(rf"""(?<!\w)["']?(?:{names})["']?\s{{0,3}}[<(\[]?(?:mailto:)?\Z""")


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


def marks(addresses: Collection[str], names: Collection[str], ids: Collection[str], own: Iterable[str]) -> Marks:
    """What could tell a person: of their own words those that can identify. What others said too is still in it."""
    full = {one for name in names if (one := full_name(name))}
    phrases = {one.translate(_ASCII) for one in addresses} | {found for one in ids if (found := message_id(one))} | full
    parts = {word for name in full for word in words_of(name) if len(word) > 2}
    return Marks(frozenset(phrases), distinctive(own) | parts)


def _stands_in(phrase: str, text: str) -> bool:
    return next(_spans(phrase, text), None) is not None


def _spans(phrase: str, text: str) -> Iterator[tuple[int, int]]:
    """Where a phrase stands in a text, as a whole."""
    plain = text.translate(_ASCII) if "@" in phrase else _lower(text)
    if phrase in plain:
        yield from (one.span() for one in _whole(phrase).finditer(plain))


@cache
def _whole(phrase: str) -> re.Pattern[str]:
    if "@" in phrase:
        return re.compile(_BEFORE + re.escape(phrase) + _AFTER)
    return re.compile(r"(?<!\w)" + re.escape(phrase) + r"(?!\w)")


def _lower(text: str) -> str:
    """In small letters, each where its capital was: U+0130 alone would become two."""
    return text.replace("\u0130", "i").lower()


def _is_number(word: str) -> bool:
    return sum(one.isdigit() for one in word) >= LEAST_DIGITS and not _YEAR.fullmatch(word)


@cache
def _common() -> frozenset[str]:
    """The words that the embedder knows whole: the common English ones."""
    return frozenset(VOCABULARY.read_text(encoding="utf-8").split())
