"""What a mail asks of memory: its questions, and the sentences that point back to something or to some time.

Pure. Each comes with the words it is searched by: without its phrase of time, which is a window instead, and without
the words that only say that memory is asked ("do you remember", "did I tell you"), which no fact holds.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import islice

from services.mail.language import detect_language
from services.memory.periods import Window
from services.memory.temporal import timed

MOST = 3  # questions of one mail that memory is asked
LONGEST = 300  # characters of one

_SENTENCE_ENDS = re.compile(r"(?<=[.!?])\s+|\n\s*\n")
_WHO = r"(?:I|we|you)"
_SAYING = r"(?:mention|say|tell|speak|talk|discuss|note|agree)"
_SAID = r"(?:mentioned|said|told|spoke|spoken|talked|discussed|noted|agreed)"
_ABOUT = r"(?: (?:you|me|us))?(?: (?:about|of|that|on|with you))?"
_ABOUT_MEMORY = re.compile(
    rf"\b(?:(?:do|can|could|would) you (?:still |please |perhaps )?"
    rf"(?:remember|recall|remind (?:me|us)(?: of| about)?|(?:know|have)(?= (?:when|what|which|who|where|how|if)\b))"
    rf"|(?:did|have|had) {_WHO} (?:not )?(?:already |ever )?(?:{_SAYING}|{_SAID}){_ABOUT}"
    rf"|(?:as )?{_WHO} {_SAID}{_ABOUT}|is (?:it|there) (?:a )?noted?(?: on)?"
    rf"|(?:did|was|were) (?:it|there|{_WHO}) not)\b",
    re.IGNORECASE,
)
_POINTS_BACK = re.compile(
    rf"\b(?:remind (?:me|us)|as (?:{_WHO} )?{_SAID}|you (?:promised|{_SAID})|last time|back then)\b", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Asked:
    """One thing asked: verbatim on one line, the words to search by, the time it speaks of.

    `of_memory`: it asks what was said or done between us, which nothing but memory can answer. `language` is that of
    the mail, or of the sentence where there is no more; empty where that is too short to tell.
    """

    text: str
    words: str
    window: Window | None = None
    of_memory: bool = False
    language: str = ""


def asked(text: str, now: datetime, most: int = MOST) -> tuple[Asked, ...]:
    """What a mail's new text asks of memory, in its order; the text's beginning where no sentence asks anything."""
    language = detect_language(text)
    found = list(islice(_asking(text, now, language), most))
    whole = " ".join(text.split())[:LONGEST]
    return tuple(found) if found or not whole else (_read(whole, now, language),)


def has_cue(text: str, now: datetime) -> bool:
    """Whether a mail asks anything, points back, or speaks of a past time; else memory need not be searched for it."""
    return next(_asking(text, now, ""), None) is not None


def read(sentence: str, now: datetime) -> Asked:
    """One sentence as a question to memory."""
    return _read(sentence, now, detect_language(sentence))


def _read(sentence: str, now: datetime, language: str) -> Asked:
    window, untimed = timed(sentence, now)
    words = " ".join(_ABOUT_MEMORY.sub(" ", untimed).split())
    of_memory = bool(_ABOUT_MEMORY.search(sentence))
    return Asked(sentence, words if re.search(r"\w", words) else sentence, window, of_memory, language)


def _asking(text: str, now: datetime, language: str) -> Iterator[Asked]:
    for part in _SENTENCE_ENDS.split(text):
        sentence = " ".join(part.split())[:LONGEST]
        if not sentence:
            continue
        one = _read(sentence, now, language)
        past = one.window is not None and one.window.start < now
        if sentence.endswith("?") or past or _POINTS_BACK.search(sentence):
            yield one
