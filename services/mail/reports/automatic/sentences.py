"""A text as sentences of words without case and accents, for wording tables. Linear; nothing is asked of the text.

What stands for itself becomes one word: `<mail>`, `<link>`, `<phone>`, `<day>` (a number of a date or a time) and
`<number>` (four digits or more, as orders and customers have).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from services.core.wording import folded

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
