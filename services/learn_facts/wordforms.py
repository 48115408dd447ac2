"""Words as they are compared across their forms, in any language: "credits" is "credit", "exporting" is "export".

Pure, and without a dictionary: two forms of a word share their beginning. A text of a script without spaces is parted
where its script changes, and what is written in hiragana (endings, particles) is no word.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from itertools import takewhile

from services.core.wording import folded
from services.learn_facts.wording import is_glue

LEAST_SHARED = 4  # letters of a beginning that say anything
SHARED = 0.8  # of the shorter of two forms
_WORD = re.compile(r"\d+(?:[.,]\d+)*|[゠-ヿー]+|[一-鿿]+|[^\W\d_゠-ヿ一-鿿ぁ-ゖ]+")


def words_of(text: str) -> tuple[str, ...]:
    """The words of a text, folded, in their order; numbers stand for themselves."""
    return tuple(_WORD.findall(folded(text)))


def content_of(text: str) -> tuple[str, ...]:
    """The words of a text that say what it is about, each once."""
    return tuple(dict.fromkeys(word for word in words_of(text) if not is_glue(word)))


def same_word(one: str, other: str) -> bool:
    """Whether two folded words are forms of one word; a number is only itself."""
    if one == other:
        return True
    if one[0].isdigit() or other[0].isdigit():
        return False
    shared = len(list(takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False))))
    return shared >= LEAST_SHARED and shared >= SHARED * min(len(one), len(other))


def is_said(word: str, said: Collection[str]) -> bool:
    """Whether a word stands among others in any form."""
    return any(same_word(word, one) for one in said)


def unsaid(words: Iterable[str], said: Collection[str]) -> list[str]:
    """Those of the words that do not stand among the others in any form."""
    return [word for word in words if not is_said(word, said)]
