"""Topics that a person should see, and promises, recognised by words of eight languages (`risk.toml`). Pure.

A word with `*` at its end stands for every word that begins so. Words are compared without accents and case.
"""

from __future__ import annotations

import importlib.resources
import re
import tomllib
import unicodedata
from collections.abc import Iterable
from functools import cache
from typing import cast

from schemas.events.replies import RiskTopic
from services.memory.phrases.language import folded

PROMISES = "promises"
UNSPACED = frozenset({"ja"})  # written without spaces between words


def topics_of(texts: Iterable[str]) -> tuple[RiskTopic, ...]:
    """The topics that some texts touch, in the order of `risk.toml`."""
    read = [_even(text) for text in texts]
    return tuple(
        cast("RiskTopic", topic)
        for topic, pattern in _patterns().items()
        if topic != PROMISES and any(pattern.search(text) for text in read)
    )


def promises(sentence: str) -> bool:
    """Whether a sentence of ours says that something will be done, given or true."""
    return bool(_patterns()[PROMISES].search(_even(sentence)))


def _even(text: str) -> str:
    seen = "".join(one for one in folded(text) if one.isascii() or unicodedata.category(one) != "Mn")
    return " ".join(seen.replace("’", "'").split())


def reads(language: str) -> bool:
    """Whether promises are known in a language (ISO 639-1)."""
    return language in _phrases()[PROMISES]


@cache
def _phrases() -> dict[str, dict[str, str]]:
    return tomllib.loads((importlib.resources.files(__package__) / "risk.toml").read_text(encoding="utf-8"))


@cache
def _patterns() -> dict[str, re.Pattern[str]]:
    return {topic: _pattern(phrases) for topic, phrases in _phrases().items()}


def _pattern(by_language: dict[str, str]) -> re.Pattern[str]:
    """One expression of all phrases: alternatives of fixed text, so that nothing is tried twice."""
    phrases = [
        (language, _even(one)) for language, line in by_language.items() for one in line.split(",") if one.strip()
    ]
    spaced = sorted({_ending(one) for language, one in phrases if language not in UNSPACED})
    other = sorted({re.escape(one) for language, one in phrases if language in UNSPACED})
    return re.compile(rf"(?<!\w)(?:{'|'.join(spaced)})|{'|'.join(other)}")


def _ending(phrase: str) -> str:
    """A phrase as a pattern: a beginning of words, or whole words."""
    return re.escape(phrase.removesuffix("*")) + ("" if phrase.endswith("*") else r"(?!\w)")
