"""The limit of a summary, held by code: so many words, and no number that it once had is lost to the cut.

Numbers are what names a thing: order and invoice numbers, amounts, ids. Those that the cut, or the model, left out are
named at the end, the latest `MOST` of them; dates and years are no such numbers.
"""

from __future__ import annotations

import re

MOST = 12
ALSO = "Also: "

_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|\n+")
_WORD = re.compile(r"\S+")
_TOKEN = re.compile(r"[#$€£]?\w[\w.,/-]*%?")
_DATE = re.compile(r"(?:19|20)\d\d(?:-W?\d\d(?:-\d\d)?)?(?:T.*)?|\d{1,2}[./-]\d{1,2}[./-](?:\d\d){1,2}")


def clip_words(text: str, limit: int) -> str:
    """`text` with at most `limit` words, cut after the last whole sentence that fits, else after a word."""
    words = list(_WORD.finditer(text))
    if len(words) <= limit:
        return text.strip()
    room = text[: words[limit - 1].end()] if limit > 0 else ""
    ends = [match.start() for match in _SENTENCE_END.finditer(text) if match.start() <= len(room)]
    return room[: ends[-1]].strip() if ends else room.strip()


def held(text: str, limit: int, before: str = "") -> str:
    """`text` in at most `limit` words, with the numbers of it and of the summary `before` it."""
    kept, tail = clip_words(text, limit), ""
    for _ in range(MOST):
        lost = _lost(kept, before, text)
        wanted = f"{ALSO}{', '.join(lost)}." if lost else ""
        if wanted == tail:
            break
        tail = wanted
        kept = clip_words(text, limit - len(tail.split()))
    return f"{kept} {tail}".strip()


def numbers(text: str) -> list[str]:
    """The numbers that name a thing, in their order, each once."""
    found = (match.group().strip(".,/-") for match in _TOKEN.finditer(text))
    return list(dict.fromkeys(one for one in found if _names_a_thing(one)))


def _lost(kept: str, *said: str) -> list[str]:
    there = set(numbers(kept))
    every = dict.fromkeys(one for text in said for one in numbers(text) if one not in there)
    return list(every)[-MOST:]


def _names_a_thing(token: str) -> bool:
    if _DATE.fullmatch(token) or len(token) > 40:
        return False
    return sum(one.isdigit() for one in token) >= 3 or bool(re.fullmatch(r"[#$€£]\d[\d.,]*|\d[\d.,]*%", token))
