"""The limit of a summary, kept by code: so many words, and no number or name that it once had is lost to the cut.

Numbers are what names a thing: order and invoice numbers, amounts, ids. Those that the cut, or the model, left out are
named at the end, the latest `MOST` of them; dates and years are no such numbers. Of names those count that are known:
the customer's, and what is remembered of them as their identity. A name that was never said is not put in.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from schemas.words import BRAHMIC, CJK, clip_words, count_words

MOST = 12
MOST_NAMES, LONGEST_NAME, MOST_WORDS = 8, 60, 6  # names in the tail; characters and words of one
ALSO = "Also: "

_SPACED = f"(?![{CJK}{BRAHMIC}])"  # a number ends where a script without blanks goes on
_TOKEN = re.compile(rf"[#$€£]?{_SPACED}\w(?:{_SPACED}[\w.,/-])*%?")
_UNSPACED = re.compile(f"[{CJK}{BRAHMIC}]")
_DATE = re.compile(r"(?:19|20)\d\d(?:-W?\d\d(?:-\d\d)?)?(?:T.*)?|\d{1,2}[./-]\d{1,2}[./-](?:\d\d){1,2}")


@dataclass(frozen=True, slots=True)
class Names:
    """What is known by name: the person, of whose name each part stands for all of it, and things, word by word."""

    person: str = ""
    things: tuple[str, ...] = ()


NOBODY = Names()


def limited(text: str, limit: int, before: str = "", names: Names = NOBODY) -> str:
    """`text` in at most `limit` words, with the numbers and the known names of it and of the summary `before` it."""
    kept, tail = clip_words(text, limit), ""
    for _ in range(MOST):
        lost = [*_lost_names(kept, f"{before}\n{text}", names), *_lost(kept, before, text)]
        wanted = _also(lost, limit)
        if wanted == tail:
            break
        tail = wanted
        kept = clip_words(text, limit - count_words(tail))
    return f"{kept} {tail}".strip()


def _also(lost: list[str], limit: int) -> str:
    """What was lost, as one line of at most `limit` words; the first named go in first."""
    line = f"{ALSO}{', '.join(lost)}." if lost else ""
    return line if count_words(line) <= limit else _also(lost[:-1], limit)


def numbers(text: str) -> list[str]:
    """The numbers that name a thing, in their order, each once."""
    found = (match.group().strip(".,/-") for match in _TOKEN.finditer(text))
    return list(dict.fromkeys(one for one in found if _names_a_thing(one)))


def _lost_names(kept: str, said: str, names: Names) -> list[str]:
    return [one for one, forms in _forms(names) if _says(said, forms) and not _says(kept, forms)][:MOST_NAMES]


def _forms(names: Names) -> Iterator[tuple[str, re.Pattern[str]]]:
    """Each known name, and how it may stand in a text."""
    person = " ".join(names.person.split())
    if _is_name(person):
        parts = [one for one in person.split(" ") if len(one.strip(".,")) > 1]
        yield person, _as_whole_words([person, *parts], 0)
    for thing in dict.fromkeys(" ".join(one.split()) for one in names.things):
        if _is_name(thing) and thing.casefold() not in person.casefold():
            yield thing, _as_whole_words([thing], re.IGNORECASE)


def _is_name(text: str) -> bool:
    return 1 < len(text) <= LONGEST_NAME and count_words(text) <= MOST_WORDS


def _as_whole_words(forms: Iterable[str], flags: int) -> re.Pattern[str]:
    """The forms as whole words, wherever a line is broken."""
    return re.compile("|".join(_whole(one) for one in forms), flags)


def _whole(form: str) -> str:
    begins, ends = (r"\b" if one.isalnum() and not _UNSPACED.match(one) else "" for one in (form[0], form[-1]))
    return begins + r"\s+".join(re.escape(part) for part in form.split(" ")) + ends


def _says(text: str, forms: re.Pattern[str]) -> bool:
    return forms.search(text) is not None


def _lost(kept: str, *said: str) -> list[str]:
    there = set(numbers(kept))
    every = dict.fromkeys(one for text in said for one in numbers(text) if one not in there)
    return list(every)[-MOST:]


def _names_a_thing(token: str) -> bool:
    if _DATE.fullmatch(token) or len(token) > 40:
        return False
    return sum(one.isdigit() for one in token) >= 3 or bool(re.fullmatch(r"[#$€£]\d[\d.,]*|\d[\d.,]*%", token))
