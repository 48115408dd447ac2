"""Whether two reports are of the same trouble: near in meaning, and agreeing in numbers and names. Pure."""

from __future__ import annotations

import re

from services.core.wording import folded
from services.memory.phrases.language import language_of, spoken
from services.memory.troubles import Report, same_words
from services.memory.wording import content_of, is_said, numbers_of
from services.watch_incidents.board import Similarity

_A_NAME = re.compile(r"(?<=[\w,] )(?!I\b)[^\W\d_a-zß-ÿ]\w{0,60}")  # capital within a sentence


def same_trouble(one: Report, other: Report, similarity: Similarity, alike_from: float) -> bool:
    """Whether both say the same words, or are near in meaning; never where a number or a name is another one."""
    words, others = content_of(one.trouble), content_of(other.trouble)
    names_agree = _names_agree(one, others) and _names_agree(other, words)
    if numbers_of(one.trouble) != numbers_of(other.trouble) or not names_agree:
        return False
    return same_words(one.trouble, other.trouble) or similarity(one, other) >= alike_from


def names_in(trouble: str, text: str) -> tuple[str, ...]:
    """The words of a trouble that its mail writes as names; none where nouns are written so, as in German."""
    plain = folded(text)
    if language_of("german") in spoken(plain):
        return ()
    written = {folded(found) for found in _A_NAME.findall(text)}
    return tuple(word for word in content_of(trouble) if word in written)


def _names_agree(one: Report, words: tuple[str, ...]) -> bool:
    return all(is_said(name, words) for name in one.names)
