"""A small language for wording tables, matched word by word in one pass over a text: linear, whatever the text is.

A line of a table is a phrase: words in their order, `stem*`, a choice `(one|two words|stem*)`, `word?` that may be
missing, `...` for at most `GAP` words, and `<mail>`, `<phone>`, `<day>`, `<number>` for what stands for itself. A line
that begins with `*` is a part of a word. Scripts that are written without spaces are matched as parts of the text,
with `...` for at most `GAP_CHARS` characters. Case and accents do not count; `#` begins a remark.
"""

from __future__ import annotations

import itertools
import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from services.mail.reports.automatic.sentences import words_of

GAP, GAP_CHARS = 6, 16
KEY = 3  # characters by which a stem or a word is found; no stem at a phrase's beginning has fewer
NO_KEY = ""  # of a phrase that any text may hold

_ELEMENT = re.compile(r"(\([^()]{1,2000}\)|\.\.\.|[^\s()]{1,100})(\?)?")
_CHOICE = re.compile(r"(\([^()]{1,2000}\))")

Row = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Element:
    """One place of a phrase: whole words, stems of words, or rows of words by the first of them."""

    words: frozenset[str]
    stems: tuple[str, ...]
    rows: Mapping[str, tuple[Row, ...]]

    def length_at(self, words: Sequence[str], at: int) -> int:
        """How many words it takes at a place, 0 where it does not stand there."""
        if at >= len(words):
            return 0
        if words[at] in self.words or (self.stems and words[at].startswith(self.stems)):
            return 1
        return next((len(row) for row in self.rows.get(words[at], ()) if stands(row, words, at)), 0)

    @property
    def keys(self) -> frozenset[str]:
        """What its words begin with, one of which any text has in which it stands."""
        beginnings = frozenset(text[:KEY] for text in (*self.words, *self.stems, *self.rows))
        return frozenset({NO_KEY}) if any(len(stem) < KEY for stem in self.stems) else beginnings


@dataclass(frozen=True, slots=True)
class Phrase:
    """What follows the first words of a line; None is a gap. `keys`: one of them is among those of any text with it."""

    kind: str
    rest: tuple[Element | None, ...]
    keys: frozenset[str]

    @classmethod
    def of(cls, kind: str, rest: tuple[Element | None, ...]) -> Phrase:
        """With the keys of its most telling element, so that most texts are told apart by one look."""
        telling = [one.keys for one in rest if one and NO_KEY not in one.keys]
        return cls(kind, rest, min(telling, key=len, default=frozenset({NO_KEY})))

    def may_stand(self, keys: Collection[str]) -> bool:
        """Whether it can stand at all in a text of these keys (`keys_of`)."""
        return not self.keys.isdisjoint(keys)


def keys_of(words: Sequence[str]) -> frozenset[str]:
    """What the words of a text begin with."""
    return frozenset({NO_KEY, *(word[:KEY] for word in words)})


def read_line(line: str) -> Iterator[tuple[Row, tuple[Element | None, ...]]]:
    """Each beginning of a (folded) line, with what must follow it."""
    for elements in _without_optional(_elements(line)):
        first, rest = elements[0], tuple(_element(one) for one in elements[1:])
        for row in first:
            yield row, rest


def pieces_of(line: str) -> Iterator[Row]:
    """The literal texts of a line of an unspaced script, one row for each combination of its choices."""
    choices = [one[1:-1].split("|") if one.startswith("(") else [one] for one in _CHOICE.split(line)]
    for chosen in itertools.product(*choices):
        yield tuple(piece.strip() for piece in "".join(chosen).split("...") if piece.strip())


def follows(rest: Sequence[Element | None], words: Sequence[str], at: int) -> bool:
    """Whether elements stand at a place, one behind the other; at most `GAP` places are tried after each gap."""
    for number, element in enumerate(rest):
        if element is None:
            behind = rest[number + 1 :]
            for start in range(at, min(at + GAP, len(words)) + 1):  # noqa: SIM110 - a generator takes twice as long
                if follows(behind, words, start):
                    return True
            return False
        taken = element.length_at(words, at)
        if not taken:
            return False
        at += taken
    return True


def stands(row: Row, words: Sequence[str], at: int) -> bool:
    """Whether a row of words, the last maybe a stem, stands at a place."""
    last = at + len(row) - 1
    if last >= len(words) or (last > at and tuple(words[at:last]) != row[:-1]):
        return False
    end = row[-1]
    return words[last].startswith(end[:-1]) if end[-1] == "*" else words[last] == end


def holds(text: str, pieces: Row) -> bool:
    """Whether the pieces follow each other at no more than `GAP_CHARS`; the first place of the first one counts."""
    at = text.find(pieces[0])
    for before, piece in itertools.pairwise(pieces):
        if at < 0:
            return False
        start = at + len(before)
        at = text.find(piece, start, start + GAP_CHARS + len(piece))
    return at >= 0


Choices = tuple[Row, ...]  # of one element; () is a gap


def _elements(line: str) -> list[tuple[Choices, bool]]:
    """The elements of a line, each with whether it may be missing. A gap at either end says nothing and is left out."""
    found = [(_choices(text), bool(optional)) for text, optional in _ELEMENT.findall(line)]
    while found and not found[-1][0]:
        found.pop()
    while found and not found[0][0]:
        found.pop(0)
    return found


def _choices(text: str) -> Choices:
    if text == "...":
        return ()
    choices = text[1:-1].split("|") if text.startswith("(") else [text]
    return tuple(row for choice in choices if (row := _row(choice)))


def _row(choice: str) -> Row:
    """Its words as a text's words are made; the stem mark is put back."""
    words = words_of(choice.rstrip("*"))
    return (*words[:-1], f"{words[-1]}*") if words and choice.endswith("*") else words


def _element(choices: Choices) -> Element | None:
    if not choices:
        return None
    single = [row[0] for row in choices if len(row) == 1]
    rows = defaultdict[str, list[Row]](list)
    for row in choices:
        if len(row) > 1:
            rows[row[0]].append(row)
    return Element(
        words=frozenset(word for word in single if not word.endswith("*")),
        stems=tuple(word[:-1] for word in single if word.endswith("*")),
        rows={first: tuple(found) for first, found in rows.items()},
    )


def _without_optional(elements: list[tuple[Choices, bool]]) -> Iterator[tuple[Choices, ...]]:
    """The line with and without each element that may be missing."""
    ways = [((one,), ()) if optional else ((one,),) for one, optional in elements]
    for chosen in itertools.product(*ways):
        if row := tuple(one for part in chosen for one in part):
            yield row
