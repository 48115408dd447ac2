"""Which sentences of a model's answer hold: those that say nothing but what the rows say that they name. Pure.

A sentence goes that names no row, or one that was not shown; that has a number, amount, month, link or name which the
named rows lack; that denies what they do not, or the reverse, or ends it; that tells of yesterday, which is another day
to whoever reads it later; that lets us have promised something; and that has more words of its own than of theirs.
Nothing is mended: what goes is told by its rows.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any
from uuid import UUID

from pydantic import ValidationError

from schemas.events.periods import PeriodSentence
from schemas.model_output import ToldSentence
from services.core.wording import as_read
from services.mail.compose.links import links_in
from services.mail.masking import mask
from services.memory.condensed import PeriodRow
from services.memory.phrases.language import NAMES, folded, language_of
from services.memory.wording import content_of, said_of, says, unsaid, words_of
from services.model.port import Answer

LEAST_SHARE = 2 / 3  # of a sentence's words that the rows have, in any form
MOST_READ = 50  # sentences of one answer; what comes behind is not looked at
_IDS = re.compile(r"\s?\[[0-9a-f-]{36}\]")
_EMPTY_CENTS = re.compile(r"[.,]00$")
_GROUPED = re.compile(r"[.,](?=\d{3}(?!\d))")
OF_ROWS = {  # what a sentence says only where its rows do, by the words for it
    "endings": "it ends what its rows do not",
    "moments": "its time is that of whoever reads it",
    "our_acts": "it says of us what its rows do not",
    "orders": "it says to us what its rows do not",
}
_ALWAYS_SAID = frozenset({"customer", "customers"})


def judged(answer: Answer, rows: Sequence[PeriodRow], most: int) -> tuple[tuple[PeriodSentence, ...], tuple[str, ...]]:
    """The sentences that hold, `most` at most, and for each other one why it does not."""
    call = next((one for one in answer.calls if one.name == "tell"), None)
    if call is None or call.malformed:
        return (), (call.malformed if call else f"no call of `tell` (stop: {answer.stop})",)
    given = call.input.get("sentences")
    if not isinstance(given, list):
        return (), ("no list of sentences",)
    known = {row.id: row for row in rows}
    kept: dict[str, PeriodSentence] = {}
    dropped: list[str] = []
    for one in given[:MOST_READ]:
        sentence, why = _judged(one, known)
        if sentence and (sentence.text in kept or len(kept) < most):
            kept.setdefault(sentence.text, sentence)
        else:
            dropped.append(why or "one sentence too many")
    return tuple(kept.values()), tuple(dropped)


def _judged(given: Any, known: Mapping[UUID, PeriodRow]) -> tuple[PeriodSentence | None, str]:
    try:
        told = ToldSentence.model_validate(given)
    except ValidationError:
        return None, "no sentence that names rows by their ids"
    if not known.keys() >= set(told.rows):
        return None, "it names a row that was not shown"
    text = mask(" ".join(as_read(_IDS.sub("", told.text)).split())).text
    why = objection(text, [known[id] for id in told.rows]) if text else "it says nothing"
    return (None, why) if why else (PeriodSentence(text=text, rows=tuple(dict.fromkeys(told.rows))), "")


def objection(sentence: str, rows: Sequence[PeriodRow]) -> str:
    """Why a sentence does not rest on the rows that it names; "" if it does."""
    texts = [as_read(row.told) for row in rows]
    said = " ".join(texts)
    if not _numbers(sentence) <= _numbers(said, *(f"{row.at:%Y %m %d}" for row in rows)):
        return "a number stands in none of its rows"
    if not said_of("numbers", sentence) <= said_of("numbers", said) or not _signs(sentence) <= _signs(said):
        return "an amount stands in none of its rows"
    if not _months(sentence) <= _months(said) | {row.at.month for row in rows}:
        return "a month is that of none of its rows"
    if not set(links_in(sentence)) <= set(links_in(said)):
        return "a link stands in none of its rows"
    if unsaid(_names(sentence), set(words_of(said))):
        return "a name stands in none of its rows"
    if says("denials", sentence) not in {says("denials", text) for text in texts}:
        return "it denies what its rows do not, or the reverse"
    if why := next((why for name, why in OF_ROWS.items() if says(name, sentence) and not says(name, said)), ""):
        return why
    content = [word for word in content_of(sentence) if not word[0].isdigit() and word not in _ALWAYS_SAID]
    if len(unsaid(content, set(words_of(said)))) > (1 - LEAST_SHARE) * len(content):
        return "more of its words are its own than its rows'"
    return ""


def _numbers(*texts: str) -> set[str]:
    """Numbers as they are compared: without grouping, empty cents and leading zeros."""
    return {_number(word) for text in texts for word in words_of(text) if word[0].isdigit()}


def _number(word: str) -> str:
    return _GROUPED.sub("", _EMPTY_CENTS.sub("", word)).replace(",", ".").lstrip("0") or "0"


def _names(text: str) -> list[str]:
    """Words in capitals, but for one that begins the sentence, and abbreviations."""
    named = (one for n, one in enumerate(text.split()) if one[0].isupper() and (n or one[1:2].isupper()))
    return [word for one in named for word in words_of(one) if not _month(word)]


def _signs(text: str) -> set[str]:
    return {one for one in text if unicodedata.category(one) == "Sc" or one == "%"}


def _months(text: str) -> set[int]:
    return {month for word in words_of(text) if (month := _month(word))}


@lru_cache(maxsize=4096)
def _month(word: str) -> int:
    """The month of this name in one of the languages whose phrases of time are known; else 0."""
    names: Iterable[Any] = (pair for name in NAMES for pair in language_of(name).names.get("month", ()))
    return next((int(meant) for pattern, meant in names if pattern.fullmatch(folded(word))), 0)
