"""A small language for wording tables, matched word by word in one pass over a text: linear, whatever the text is.

A line of a table is a phrase: words in their order, `stem*`, a choice `(one|two words|stem*)`, `word?` that may be
missing, `...` for at most `GAP` words, and `<mail>`, `<phone>`, `<day>`, `<number>` for what stands for itself. A line
that begins with `*` is a part of a word. Scripts that are written without spaces are matched as parts of the text,
with `...` for at most `GAP_CHARS` characters. Case and accents do not count; `#` begins a remark.
"""

from __future__ import annotations

import importlib.resources
import itertools
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from services.core.wording import folded, lines_of

# A text as sentences of words without case and accents, for wording tables. Linear; nothing is asked of the text.
#
# What stands for itself becomes one word: `<mail>`, `<link>`, `<phone>`, `<day>` (a number of a date or a time) and
# `<number>` (four digits or more, as orders and customers have).
MAIL, LINK, PHONE, DAY, NUMBER = "<mail>", "<link>", "<phone>", "<day>", "<number>"
PHONE_DIGITS, NUMBER_DIGITS, LONGEST_NUMBER = 7, 4, 9
_BREAKS = ("end", "blank")
ABBREVIATED = 5  # letters at most of what a full stop before a number shortens: tel., nr., p. o. box

_TOKEN = re.compile(
    r"(?P<mail>[a-z0-9._+-]{1,64}@[a-z0-9.-]{0,120}[a-z0-9])|(?P<link>https?://[^\s<>]{1,200}|www\.[a-z0-9./-]{1,200}|"
    r"[a-z0-9-]{1,40}\.[a-z0-9.-]{2,60}/[a-z0-9/_-]{0,60})|(?P<digits>\d[\d ./:()-]{0,24}\d|\d)|"
    r"(?P<mark><[a-z]{3,6}>)|(?P<word>[^\W\d_]{1,64})|(?P<blank>\n[ \t]{0,20}\n)|(?P<end>[.!…。！।;?？؟])"
)
_DATE = r"\d{1,4}[./-]\d{1,2}[./-]?(?:\d{2,4})?"
_DATES = re.compile(rf"{_DATE}(?: ?- ?{_DATE})?")
_YEAR = re.compile(r"(?:19|20|21)\d\d")
_COMMA = re.compile(r"[,、،:()–—]|\s-\s")
_UNSPACED = "\u0900"  # from here on: Indic scripts, Thai, Georgian, Hangul, kana, Han


@dataclass(frozen=True, slots=True)
class Sentence:
    """Its words, its text (folded, single spaces), and whether it ends in a question mark."""

    words: tuple[str, ...]
    text: str
    asks: bool = False


def sentences(text: str) -> Iterator[Sentence]:
    """The sentences of a text; a blank line ends one, a full stop behind a day of a date ends none."""
    plain = text.casefold() if text.isascii() else folded(text)
    words, start = list[str](), 0
    for found in _TOKEN.finditer(plain):
        if found.lastgroup not in _BREAKS:
            words.append(_word(found))
        elif words and not (found[0] == "." and _goes_on(plain, found.start(), words[-1])):
            yield _sentence(words, plain[start : found.end()], _is_question(found[0], words))
            words, start = [], found.end()
    if words:
        yield _sentence(words, plain[start:], asks=False)


def clauses(sentence: Sentence, conjunctions: frozenset[tuple[str, ...]]) -> Iterator[Sentence]:
    """The parts of a sentence between commas and conjunctions (of one word, or of two of which the first is one)."""
    for part in _COMMA.split(sentence.text):
        words, found = list[str](), (*_words(part), "")
        for word, following in zip(found, (*found[1:], ""), strict=True):
            joins = (word,) in conjunctions or (word, following) in conjunctions
            if words and (joins or not word):
                yield Sentence(tuple(words), part.strip() if is_unspaced(part) else " ".join(words))
                words = []
            elif not joins:
                words.append(word)


def words_of(text: str) -> tuple[str, ...]:
    """The words of one line."""
    return tuple(_words(folded(text)))


def is_unspaced(text: str) -> bool:
    """Whether a text holds a script in which words are not, or not always, told apart by spaces."""
    return max(text, default="") >= _UNSPACED and any(_UNSPACED <= one < "\u1e00" or one >= "\u2e80" for one in text)


def _words(plain: str) -> Iterator[str]:
    return (_word(found) for found in _TOKEN.finditer(plain) if found.lastgroup not in _BREAKS)


def _goes_on(plain: str, at: int, word: str) -> bool:
    """Whether a full stop ends no sentence: behind the day of a date, and behind a short word before a number."""
    if word == DAY and plain[at - 1].isdigit():
        return True
    follows = plain[at + 1 : at + 3].lstrip(" ")[:1]
    return len(word) <= ABBREVIATED and plain[at - 1].isalpha() and (follows.isdigit() or follows == "+")


def _is_question(end: str, words: list[str]) -> bool:
    """Greek asks with a semicolon."""
    return end in "?？؟" or (end == ";" and any("α" <= word[0] <= "ω" for word in words))


def _sentence(words: list[str], text: str, asks: bool) -> Sentence:
    return Sentence(tuple(words), " ".join(text.split()), asks)


def _word(found: re.Match[str]) -> str:
    if found.lastgroup in ("mail", "link"):
        return MAIL if found.lastgroup == "mail" else LINK
    if found.lastgroup == "digits":
        return _number(found[0])
    return found[0]


def _number(text: str) -> str:
    digits = sum(map(str.isdigit, text))
    if digits < len(text) and _DATES.fullmatch(text):
        return DAY
    if digits >= (PHONE_DIGITS if digits < len(text) else LONGEST_NUMBER):
        return PHONE
    if digits < NUMBER_DIGITS or digits < len(text) or text.startswith("0") or _YEAR.fullmatch(text):
        return DAY
    return NUMBER


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


# Wording tables, of all languages or of one, indexed by the words with which their phrases begin.
Begun = tuple[tuple[Row, Phrase], ...]


@dataclass(frozen=True, slots=True)
class Tables:
    """Phrases by what they begin with, so that a word is compared with few of them."""

    words: Mapping[str, Begun]
    stems: Mapping[str, Begun]
    parts: tuple[tuple[str, Row], ...]  # (kind, the pieces of an unspaced script)
    inside: tuple[tuple[str, str], ...]  # (kind, a part of a word)
    ascii_inside: tuple[tuple[str, str], ...]  # those of them that a text in ASCII can hold

    def kinds(self, sentence: Sentence) -> frozenset[str]:
        """The kinds of phrases that a sentence holds."""
        ascii_only = sentence.text.isascii()
        found = {kind for kind, part in (self.ascii_inside if ascii_only else self.inside) if part in sentence.text}
        words, keys = sentence.words, keys_of(sentence.words)
        for at, word in enumerate(words):
            for row, phrase in self.words.get(word, ()):
                if phrase.kind in found or not phrase.may_stand(keys):
                    continue
                if (len(row) == 1 or stands(row, words, at)) and follows(phrase.rest, words, at + len(row)):
                    found.add(phrase.kind)
            for (stem,), phrase in self.stems.get(word[:KEY], ()):
                if phrase.kind in found or not phrase.may_stand(keys):
                    continue
                if word.startswith(stem) and follows(phrase.rest, words, at + 1):
                    found.add(phrase.kind)
        if not ascii_only and is_unspaced(sentence.text):
            found.update(kind for kind, pieces in self.parts if kind not in found and holds(sentence.text, pieces))
        return frozenset(found)

    def opening(self, words: Sequence[str]) -> str:
        """The kind of the first phrase with which a row of words begins, or ""."""
        if not words:
            return ""
        begun = [one for one in self.words.get(words[0], ()) if stands(one[0], words, 0)]
        begun += [one for one in self.stems.get(words[0][:KEY], ()) if words[0].startswith(one[0])]
        return next((phrase.kind for row, phrase in begun if follows(phrase.rest, words, len(row))), "")


@cache
def tables(package: str, kinds: tuple[str, ...]) -> Tables:
    """The tables `<kind>.txt` of a package, in one."""
    return _indexed((name, folded(line)) for name in kinds for line in lines_of(package, name))


@cache
def language_tables(package: str, language: str) -> Tables:
    """The table `<language>.txt` of a package, whose lines are `kind: phrase`; empty for a language without one."""
    if language not in _languages(package):
        return _indexed(())
    lines = (line.partition(":") for line in lines_of(package, language))
    return _indexed((kind, folded(phrase.strip())) for kind, _, phrase in lines)


@cache
def _languages(package: str) -> frozenset[str]:
    names = (one.name for one in importlib.resources.files(package).iterdir())
    return frozenset(name.removesuffix(".txt") for name in names if name.endswith(".txt"))


def _indexed(lines: Iterable[tuple[str, str]]) -> Tables:
    words, stems = defaultdict[str, list[tuple[Row, Phrase]]](list), defaultdict[str, list[tuple[Row, Phrase]]](list)
    parts, inside = list[tuple[str, Row]](), list[tuple[str, str]]()
    for kind, line in lines:
        if line.startswith("*"):
            inside.append((kind, line[1:].strip()))
        elif is_unspaced(line):
            parts += [(kind, pieces) for pieces in pieces_of(line)]
        else:
            for row, rest in read_line(line):
                stem = row[0].removesuffix("*")
                if stem != row[0]:  # only the last word of a row may be a stem: this row is one
                    stems[stem[:KEY]].append(((stem,), Phrase.of(kind, rest)))
                else:
                    words[row[0]].append((row, Phrase.of(kind, rest)))
    in_ascii = tuple(one for one in inside if one[1].isascii())
    return Tables(_frozen(words), _frozen(stems), tuple(parts), tuple(inside), in_ascii)


def _frozen(index: Mapping[str, list[tuple[Row, Phrase]]]) -> Mapping[str, Begun]:
    return {key: tuple(phrases) for key, phrases in index.items()}
